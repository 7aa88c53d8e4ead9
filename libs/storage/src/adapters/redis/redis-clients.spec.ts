import { jest } from '@jest/globals';
import { add, all, eventually, Lateness, Namespace, take } from './adapter.fixture.js';
import { describeRedis, RedisServer } from './redis-server.fixture.js';

jest.setTimeout(60_000);

const LEASE_MS = 1500;
/** As the worker pool does it. */
const REAP_MS = 500;

describeRedis('Redis with two clients', () => {
  let server: RedisServer;
  let space: Namespace;

  beforeAll(async () => {
    server = await RedisServer.start();
  });

  afterAll(async () => {
    await server.stop();
  });

  beforeEach(() => {
    space = new Namespace(server);
  });

  afterEach(async () => {
    await space.dispose();
  });

  it('lets one take over what the other ran when it vanished, within a lease and a second', async () => {
    const gone = await space.opened();
    const { adapter } = await space.opened();
    const ids = await Promise.all([1, 2, 3].map(() => add(gone.adapter, { maxRequeues: 1 })));
    const lost = await take(gone.adapter, 3, LEASE_MS);
    expect(lost).toHaveLength(3);
    const lateness = new Lateness();
    const beganMs = performance.now();
    gone.wire.cut();
    const waiting = adapter.claim({ queue: 'default', limit: 3, owner: 'test', leaseMs: 60_000, waitMs: 30_000 });
    const reaper = setInterval(() => void adapter.reap(100), REAP_MS);
    const taken = await waiting;
    clearInterval(reaper);
    expect(performance.now() - beganMs - lateness.stop()).toBeLessThan(LEASE_MS + 1000);
    expect(taken.map(({ id }) => id).sort()).toEqual([...ids].sort());
    for (const job of taken) expect(job).toMatchObject({ requeues: 1, starts: 2, error: { code: 'lease_expired' } });
  });

  it('refuses what one that was cut off says when it is back (G28)', async () => {
    const cut = await space.opened({ commandTimeoutMs: 300 });
    const { adapter } = await space.opened();
    await add(cut.adapter, { id: 'job' });
    const [stale] = await take(cut.adapter, 1, LEASE_MS);
    cut.wire.blackhole();
    const [taken] = await eventually(async () => {
      await adapter.reap(10);
      const jobs = await take(adapter);
      expect(jobs).toHaveLength(1);
      return jobs;
    });
    cut.wire.heal();
    await eventually(() => expect(cut.adapter.health().reason).toBeNull());
    await expect(cut.adapter.ack(stale!, 'late')).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await cut.adapter.extend([{ lease: stale! }], LEASE_MS)).toEqual(['lost']);
    expect((await cut.adapter.get('job'))?.epoch).toBe(taken!.epoch);
    await adapter.ack(taken!, 'in time');
    expect(await cut.adapter.get('job')).toMatchObject({ state: 'done', result: 'in time', requeues: 1 });
  });

  it('gives no epoch out twice when eight of them reap all the time (G25)', async () => {
    const clients = await Promise.all(Array.from({ length: 8 }, () => space.opened()));
    await Promise.all(Array.from({ length: 40 }, () => add(clients[0]!.adapter, { maxRequeues: 1000, backoff: { baseMs: 0, capMs: 0 } })));
    const epochs = new Map<string, number[]>();
    const acked = new Map<string, number>();
    let running = true;
    const work = async ({ adapter }: (typeof clients)[number], index: number): Promise<void> => {
      while (running) {
        await adapter.reap(100);
        for (const job of await take(adapter, 4, 1 + index)) {
          epochs.set(job.id, [...(epochs.get(job.id) ?? []), job.epoch]);
          if (job.starts % 8 !== index) continue;
          await adapter.ack(job).then(
            () => {
              expect(acked.has(job.id)).toBe(false);
              acked.set(job.id, job.epoch);
            },
            () => undefined,
          );
        }
      }
    };
    const workers = clients.map(work);
    await eventually(() => expect(acked.size).toBe(40));
    running = false;
    await Promise.all(workers);
    for (const [id, given] of epochs) expect([id, new Set(given).size]).toEqual([id, given.length]);
    for (const job of await all(clients[0]!.adapter)) {
      expect(job).toMatchObject({ state: 'done', epoch: acked.get(job.id) });
      expect(job.starts).toBe(job.requeues + 1);
    }
  });

  it('wakes every process when one of them cancels, delays or opens a lane', async () => {
    const { adapter } = await space.opened();
    const other = await space.opened();
    const claim = { queue: 'fresh', limit: 1, owner: 'test', leaseMs: 60_000, waitMs: 30_000 };
    const fresh = adapter.claim(claim);
    await add(other.adapter, { queue: 'fresh', id: 'fresh' });
    expect((await fresh)[0]?.id).toBe('fresh');
    const higher = adapter.claim(claim);
    await add(other.adapter, { queue: 'fresh', id: 'higher', priority: 9 });
    expect((await higher)[0]?.id).toBe('higher');
    await add(other.adapter, { queue: 'fresh', delayMs: 3_600_000 });
    const soon = adapter.claim(claim);
    await add(other.adapter, { queue: 'fresh', id: 'soon', delayMs: 30 });
    const [job] = await soon;
    expect(job?.id).toBe('soon');
    const told = new Promise((resolve) => adapter.subscribe(resolve));
    await other.adapter.cancel('soon');
    expect(await told).toEqual({ type: 'cancel_requested', lease: { id: 'soon', epoch: job!.epoch } });
  });

  it('wakes a claim by the bell, not by asking again, however long it has been waiting', async () => {
    const { adapter } = await space.opened();
    const other = await space.opened();
    const lateness = new Lateness();
    const waits: number[] = [];
    for (let round = 0; round < 20; round++) {
      const waiting = adapter.claim({ queue: 'default', limit: 1, owner: 'test', leaseMs: 60_000, waitMs: 30_000 });
      await new Promise((resolve) => setTimeout(resolve, round * 3));
      const beganMs = performance.now();
      await add(round % 2 === 0 ? other.adapter : adapter);
      await waiting;
      waits.push(performance.now() - beganMs);
    }
    waits.sort((one, another) => one - another);
    expect(waits[10]! - lateness.stop()).toBeLessThan(100);
  });
});
