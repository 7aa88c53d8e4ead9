import assert from 'node:assert/strict';
import { describeStorageAdapter, ManualClock } from '../../testing/index.js';
import { MemoryStorageAdapter } from './memory.adapter.js';

describeStorageAdapter('MemoryStorageAdapter', {
  create() {
    const clock = new ManualClock();
    const adapter = new MemoryStorageAdapter({ clock });
    return {
      adapter,
      advance: async (ms) => clock.advance(ms),
      jumpWall: async (ms) => clock.jumpWall(ms),
      async dispose() {
        await adapter.close();
        assert.equal(clock.pendingTimers, 0, 'a closed adapter has no timer left');
      },
    };
  },
});

describe('MemoryStorageAdapter, opened again', () => {
  it('refuses a lease from before, whose last note was never kept', async () => {
    const adapter = new MemoryStorageAdapter({ clock: new ManualClock() });
    await adapter.open();
    await adapter.enqueue([{ queue: 'default', type: 'any', payload: '{}' }]);
    const [lease] = await adapter.claim({ queue: 'default', limit: 1, owner: 'one', leaseMs: 1000 });
    assert.ok(lease);
    for (const log of [['kept'], ['not kept yet']]) await adapter.extend([{ lease, log }], 1000);
    await adapter.close();
    await adapter.open();
    await assert.rejects(adapter.ack(lease), { code: 'lease_lost' });
    await adapter.close();
  });
});
