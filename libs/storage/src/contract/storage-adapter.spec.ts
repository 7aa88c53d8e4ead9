import { jest } from '@jest/globals';
import { MemoryStorageAdapter } from '../adapters/memory/index.js';

/** The state machine of open and close, where an adapter fails; where it does not, the conformance kit looks. */
class FailingAdapter extends MemoryStorageAdapter {
  failures: (() => Promise<void>)[] = [];
  closed = 0;

  protected override doOpen(): Promise<void> {
    return this.failures.shift()?.() ?? super.doOpen();
  }

  protected override doClose(): Promise<void> {
    this.closed++;
    return this.failures.shift()?.() ?? super.doClose();
  }
}

const FAILURES: readonly (readonly [string, () => Promise<void>])[] = [
  ['rejects', () => Promise.reject(new Error('no'))],
  [
    'throws',
    () => {
      throw new Error('no');
    },
  ],
];

describe('StorageAdapter', () => {
  it.each(FAILURES)('is closed after an open that %s, and can be opened again', async (_, fail) => {
    const adapter = new FailingAdapter();
    adapter.failures = [fail];
    await expect(adapter.open()).rejects.toThrow('no');
    expect(adapter.health().state).toBe('closed');
    await adapter.open();
    expect(adapter.health().state).toBe('open');
    await adapter.close();
  });

  it('closes nothing where the open failed', async () => {
    const adapter = new FailingAdapter();
    adapter.failures = [() => Promise.reject(new Error('no'))];
    const opening = adapter.open();
    await adapter.close();
    await expect(opening).rejects.toThrow('no');
    expect(adapter.closed).toBe(0);
  });

  it.each(FAILURES)('is closed after a close that %s, and says so to all who asked for it', async (_, fail) => {
    const adapter = new FailingAdapter();
    await adapter.open();
    adapter.failures = [fail];
    const calls = [adapter.close(), adapter.close()];
    for (const call of calls) await expect(call).rejects.toThrow('no');
    expect([adapter.health().state, adapter.closed]).toEqual(['closed', 1]);
    await adapter.open();
    await adapter.close();
  });

  it('does what it was asked for although a listener throws, tells the others, and lets the error come up by itself', async () => {
    const adapter = new MemoryStorageAdapter();
    await adapter.open();
    const [{ id } = { id: '' }] = await adapter.enqueue([{ queue: 'q', type: 't', payload: 'null' }]);
    await adapter.claim({ queue: 'q', limit: 1, owner: 'w', leaseMs: 1000 });
    const heard = jest.fn();
    adapter.subscribe(() => {
      throw new Error('a bug of the listener');
    });
    adapter.subscribe(heard);
    const later = jest.spyOn(globalThis, 'queueMicrotask').mockImplementation(() => undefined);
    try {
      await expect(adapter.cancel(id)).resolves.toMatchObject({ state: 'active', cancelRequested: true });
      expect(heard).toHaveBeenCalledTimes(1);
      expect(later.mock.calls.map(([callback]) => callback)).toHaveLength(1);
      expect(later.mock.calls[0]![0]).toThrow('a bug of the listener');
    } finally {
      later.mockRestore();
    }
    await adapter.close();
  });
});
