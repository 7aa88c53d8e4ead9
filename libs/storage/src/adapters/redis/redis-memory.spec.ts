import { jest } from '@jest/globals';
import { hasCode } from '../../contract/index.js';
import { add, all, drain, eventually, FAILED, LEASE_MS, Namespace, newJob, take } from './adapter.fixture.js';
import { describeRedis, RedisServer } from './redis-server.fixture.js';

jest.setTimeout(60_000);

const LARGE = 'x'.repeat(10_000);

describeRedis('Redis that is full', () => {
  let server: RedisServer;
  let space: Namespace;

  beforeEach(async () => {
    server = await RedisServer.start('--maxmemory', '3mb', '--maxmemory-policy', 'noeviction');
    space = new Namespace(server);
  });

  afterEach(async () => {
    await space.dispose();
    await server.stop();
  });

  /** Enqueues until it is refused; resolves with the ids that were taken. */
  async function fill(adapter: Parameters<typeof add>[0]): Promise<string[]> {
    const ids: string[] = [];
    try {
      for (;;) ids.push(await add(adapter, { payload: LARGE }));
    } catch (error) {
      expect(hasCode(error, 'storage_full')).toBe(true);
      return ids;
    }
  }

  it('refuses new jobs with storage_full, and lets all others be worked off (G12)', async () => {
    const { adapter } = await space.opened();
    const early = [
      await add(adapter, { priority: 9 }),
      await add(adapter, { priority: 9, maxAttempts: 1 }),
      await add(adapter, { priority: 9 }),
    ];
    const [acked, nacked, cancelled] = await take(adapter, 3);
    const ids = await fill(adapter);
    await server.do('config', 'set', 'maxmemory', '2mb'); // nor is there room for anything smaller
    await eventually(() => expect(adapter.health()).toMatchObject({ state: 'full', writable: false }));
    await expect(adapter.enqueue([newJob(), newJob()])).rejects.toMatchObject({ code: 'storage_full' });
    expect(await adapter.extend([{ lease: acked!, progress: { percent: 5, note: null }, log: ['still here'] }], LEASE_MS)).toEqual([
      'held',
    ]);
    await adapter.ack(acked!, 'result');
    await adapter.nack(nacked!, FAILED, { retryInMs: 0 });
    await adapter.cancel(cancelled!.id);
    await adapter.requeue(cancelled!, 'hung');
    await expect(adapter.redrive(nacked!.id)).rejects.toMatchObject({ code: 'storage_full' });
    expect((await drain(adapter)).sort()).toEqual([...ids].sort());
    expect((await all(adapter)).length).toBe(ids.length + early.length);
    while ((await adapter.prune({ keepFinished: 1, keepFinishedMs: 0, keepDeadMs: 0 })) > 0);
    await server.do('config', 'set', 'maxmemory', '3mb');
    await eventually(() => expect(adapter.health()).toMatchObject({ state: 'open', writable: true }));
    await adapter.redrive(nacked!.id);
    await add(adapter, { payload: LARGE });
  });

  it('can be opened to be worked off', async () => {
    const first = await space.opened();
    const ids = await fill(first.adapter);
    await first.adapter.close();
    await server.do('config', 'set', 'maxmemory', '1mb');
    const { adapter } = await space.opened();
    expect(adapter.health()).toMatchObject({ state: 'full', writable: false });
    expect((await drain(adapter)).sort()).toEqual([...ids].sort());
  });

  it('takes a batch whole or not at all (G35)', async () => {
    const { adapter } = await space.opened();
    let taken = 0;
    for (let refused = false; !refused;) {
      const batch = Array.from({ length: 50 }, () => newJob({ payload: LARGE.slice(0, 3000) }));
      refused = await adapter.enqueue(batch).then(
        () => false,
        () => true,
      );
      if (!refused) taken += batch.length;
      expect((await adapter.counts()).ready).toBe(taken);
    }
    expect((await all(adapter)).length).toBe(taken);
  });

  it('is not opened while it throws jobs away instead (G13)', async () => {
    await server.do('config', 'set', 'maxmemory-policy', 'allkeys-lru');
    const { adapter } = await space.adapter();
    await expect(adapter.open()).rejects.toMatchObject({ code: 'storage_unavailable', message: expect.stringContaining('allkeys-lru') });
    expect(adapter.health().state).toBe('closed');
    await server.do('config', 'set', 'maxmemory-policy', 'volatile-lru');
    await adapter.open();
    await add(adapter);
  });
});
