import { Test } from '@nestjs/testing';
import { StorageAdapter } from '@orchd/storage';
import { HandlerRegistry } from '../handler/handler.registry.js';
import { QueueService } from '../queue.service.js';
import { OrchdTestingModule, type OrchdTestingOptions } from './orchd-testing.module.js';
import { OrchdTesting } from './orchd-testing.js';

async function start(options: OrchdTestingOptions = {}, { init = true } = {}) {
  const app = await Test.createTestingModule({ imports: [OrchdTestingModule.forRoot(options)] }).compile();
  if (init) await app.init();
  return { app, orchd: app.get(OrchdTesting), queue: app.get(QueueService), registry: app.get(HandlerRegistry) };
}

describe('OrchdTesting', () => {
  it('drains what handlers enqueue too', async () => {
    const { app, orchd, queue, registry } = await start();
    registry.register<{ left: number }, void>('chain', async ({ payload: { left } }) => {
      if (left > 0) await queue.enqueue({ type: 'chain', payload: { left: left - 1 } });
    });
    await queue.enqueue({ type: 'chain', payload: { left: 9 } });
    expect(await orchd.drain()).toMatchObject({ ready: 0, active: 0, done: 10 });
    await app.close();
  });

  it('leaves delayed jobs alone unless told otherwise', async () => {
    const { app, orchd, queue, registry } = await start({ startAt: 1000 });
    registry.register('noop', async () => undefined);
    await queue.enqueue({ type: 'noop', delayMs: 60_000 });
    await queue.enqueue({ type: 'noop', runAt: 500_000 });
    expect(await orchd.drain()).toMatchObject({ delayed: 2 });
    expect(orchd.clock.wallMs()).toBe(1000);
    expect(await orchd.drain({ delayed: true })).toMatchObject({ delayed: 0, done: 2 });
    expect(orchd.clock.wallMs()).toBe(500_000);
    await app.close();
  });

  it('does not move the clock while a handler runs', async () => {
    const { app, orchd, queue, registry } = await start();
    let release = () => undefined as void;
    registry.register('slow', () => new Promise<void>((resolve) => (release = resolve)));
    registry.register('later', async () => undefined);
    const before = orchd.clock.wallMs();
    await queue.enqueue({ type: 'slow' });
    const { id } = await queue.enqueue({ type: 'later', delayMs: 3_600_000 });
    const waiting = orchd.waitFor(id);
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(orchd.clock.wallMs()).toBe(before);
    release();
    expect(await waiting).toMatchObject({ state: 'done' });
    await app.close();
  });

  it('sees a hung handler to its end when the test moves the clock', async () => {
    const { app, orchd, queue, registry } = await start({ workers: { heartbeatTimeoutMs: 1000 } });
    registry.register('hangs', (_, ctx) => (ctx.epoch > 0 && hung++ === 0 ? new Promise(() => undefined) : Promise.resolve('done')));
    let hung = 0;
    const { id } = await queue.enqueue({ type: 'hangs' });
    const waiting = orchd.waitFor(id);
    for (let step = 0; step < 20; step++) {
      orchd.clock.advance(100);
      await new Promise(setImmediate);
    }
    expect(await waiting).toMatchObject({ state: 'done', requeues: 1, attempts: 0 });
    await app.close();
  });

  it('says so when there is nobody to take the job, or no such job', async () => {
    const { app, orchd, queue, registry } = await start({}, { init: false });
    registry.register('noop', async () => undefined);
    await app.get(StorageAdapter).open();
    const { id } = await queue.enqueue({ type: 'noop' });
    await expect(orchd.waitFor(id)).rejects.toThrow('nobody takes');
    await expect(orchd.drain()).rejects.toThrow('nobody takes');
    await expect(orchd.waitFor('other')).rejects.toThrow('no job other');
    await app.close();
  });
});
