import { jest } from '@jest/globals';
import { hasCode, type JobRecord } from '../../contract/index.js';
import { add, all, drain, eventually, FAILED, LEASE_MS, Namespace, newJob, take } from './adapter.fixture.js';
import { describeRedis, RedisServer } from './redis-server.fixture.js';
import type { RedisStorageAdapter } from './redis.adapter.js';

jest.setTimeout(60_000);

const TIMEOUT_MS = 400;

async function code(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'resolved',
    (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error)),
  );
}

function writable(adapter: RedisStorageAdapter): Promise<void> {
  return eventually(() => expect(adapter.health().reason).toBeNull());
}

describeRedis('Redis that goes away', () => {
  let server: RedisServer;
  let space: Namespace;

  beforeEach(async () => {
    server = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
    space = new Namespace(server);
  });

  afterEach(async () => {
    await space.dispose();
    await server.stop();
  });

  it('declares what the server is set to promise', async () => {
    const { adapter } = await space.adapter();
    expect(adapter.capabilities.durability).toBe('unknown');
    await adapter.open();
    expect(adapter.capabilities.durability).toBe('fsync');
    await adapter.close();
    await server.do('config', 'set', 'appendfsync', 'everysec');
    await adapter.open();
    expect(adapter.capabilities.durability).toBe('interval');
  });

  it('waits for a Redis that is not there yet, and says so (B12)', async () => {
    const { adapter, wire } = await space.adapter();
    wire.cut();
    const opening = adapter.open();
    await eventually(() => expect(adapter.health().reason).toMatch(/waiting for Redis/));
    expect(adapter.health()).toMatchObject({ state: 'opening', writable: false });
    wire.heal();
    await opening;
    await add(adapter);
    expect(adapter.health()).toMatchObject({ state: 'open', writable: true, reason: null });
  });

  it('ends its wait for Redis when it is closed (B05)', async () => {
    const { adapter, wire } = await space.adapter();
    wire.cut();
    const opening = code(adapter.open());
    await eventually(() => expect(adapter.health().reason).toMatch(/waiting for Redis/));
    await adapter.close();
    expect(await opening).toBe('storage_unavailable');
    expect(adapter.health().state).toBe('closed');
  });

  it('refuses at once while Redis is down, does nothing of it later, and goes on by itself (G11, G27)', async () => {
    const { adapter } = await space.opened();
    await add(adapter, { id: 'held' });
    const [held] = await take(adapter);
    const waiting = adapter.claim({ queue: 'default', limit: 1, owner: 'test', leaseMs: LEASE_MS, waitMs: 60_000 });
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    await adapter.counts(); // on the same connection: the claim has been answered, and waits
    await server.kill();
    await eventually(() => expect(adapter.health().writable).toBe(false));
    const downUntilMs = performance.now() + 5000;
    let refused = 0;
    while (performance.now() < downUntilMs) {
      const id = `refused-${refused++}`;
      expect(await code(adapter.enqueue([newJob({ id })]))).toBe('storage_unavailable');
      expect(await code(adapter.ack(held!))).toBe('storage_unavailable');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await server.begin();
    await writable(adapter);
    expect((await all(adapter)).map(({ id }) => id)).toEqual(['held']);
    await adapter.ack(held!);
    const id = await add(adapter);
    expect((await waiting).map((job) => job.id)).toEqual([id]);
    expect(space.warnings).toEqual(['Redis is lost', 'Redis is found again']);
  });

  it('closes although Redis is gone, without waiting for any answer (B05)', async () => {
    // Longer than this test may take: whoever waits for an answer of Redis does not end.
    const { adapter } = await space.opened({ commandTimeoutMs: 3_600_000 });
    await add(adapter);
    await take(adapter);
    await server.kill();
    await eventually(() => expect(adapter.health().writable).toBe(false));
    await adapter.close();
    expect(adapter.health().state).toBe('closed');
  });

  it('keeps every promise over kill -9 of a Redis that syncs always (I1-I5)', async () => {
    const { adapter } = await space.opened();
    const sent = new Set<string>();
    const enqueued = new Set<string>();
    const acked = new Map<string, number>();
    const epochs = new Map<string, number>();
    let running = true;
    const work = async (name: string): Promise<void> => {
      for (let i = 0; running; i++) {
        try {
          const id = `${name}-${i}`;
          sent.add(id);
          await adapter.enqueue([newJob({ id, maxRequeues: 1000 })]);
          enqueued.add(id);
          for (const job of await take(adapter, 2, 500)) {
            expect(job.epoch).toBeGreaterThan(epochs.get(job.id) ?? 0);
            epochs.set(job.id, job.epoch);
            await adapter.ack(job, String(job.epoch));
            acked.set(job.id, job.epoch);
          }
        } catch (error) {
          if (!hasCode(error, 'storage_unavailable') && !hasCode(error, 'outcome_unknown') && !hasCode(error, 'lease_lost')) throw error;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        if (i % 10 === 9) await adapter.reap(100).catch(() => undefined);
      }
    };
    const workers = Array.from({ length: 16 }, (_, n) => work(`w${n}`));
    for (let round = 0; round < 3; round++) {
      const target = acked.size + 100;
      await eventually(() => expect(acked.size).toBeGreaterThan(target));
      await server.kill();
      await server.begin();
    }
    running = false;
    await Promise.all(workers);
    await writable(adapter);
    const jobs = new Map((await all(adapter)).map((job) => [job.id, job]));
    for (const id of enqueued) expect(jobs.has(id)).toBe(true);
    for (const id of jobs.keys()) expect(sent.has(id)).toBe(true);
    for (const [id, epoch] of acked) expect(jobs.get(id)).toMatchObject({ state: 'done', result: String(epoch) });
    await eventually(async () => {
      await adapter.reap(100);
      await drain(adapter);
      expect(await adapter.counts()).toEqual({ delayed: 0, ready: 0, active: 0, done: jobs.size, dead: 0, cancelled: 0 });
    });
  });

  it('fails no call while its scripts are flushed again and again (G01)', async () => {
    const { adapter } = await space.opened();
    let flushing = true;
    const flush = async (): Promise<void> => {
      while (flushing) await server.do('script', 'flush');
    };
    const saboteur = flush();
    const ids = await Promise.all(Array.from({ length: 300 }, () => add(adapter)));
    await Promise.all([1, 2, 3].map(() => add(adapter, { delayMs: 1 })));
    const done = await drain(adapter);
    await adapter.prune({ keepFinished: 100, keepFinishedMs: 0, keepDeadMs: 0 });
    flushing = false;
    await saboteur;
    for (const id of ids) expect(done).toContain(id);
  });

  it('finds out that a connection is half open, and says that it does not know (G09)', async () => {
    const { adapter, wire } = await space.opened({ commandTimeoutMs: TIMEOUT_MS });
    await add(adapter, { id: 'held' });
    const [held] = await take(adapter);
    wire.blackhole();
    const outcomes = await Promise.all([code(add(adapter)), code(adapter.ack(held!)), code(adapter.get('held'))]);
    expect(outcomes).toEqual(['outcome_unknown', 'outcome_unknown', 'storage_unavailable']);
    expect(await code(add(adapter))).toBe('storage_unavailable');
    expect(adapter.health().writable).toBe(false);
    wire.heal();
    await writable(adapter);
    await adapter.ack(held!);
    expect((await adapter.get('held'))?.state).toBe('done');
  });

  it('gives back a job that was claimed by a call whose answer got lost, without waiting for its lease', async () => {
    const { adapter, wire } = await space.opened({ commandTimeoutMs: TIMEOUT_MS });
    await add(adapter, { id: 'held', priority: 9 });
    const [held] = await take(adapter);
    await add(adapter, { id: 'lost' });
    wire.mute();
    expect(await code(take(adapter))).toBe('outcome_unknown');
    wire.heal();
    await writable(adapter);
    const [lost] = await take(adapter);
    expect(lost).toMatchObject({ id: 'lost', starts: 2, releases: 1, requeues: 0, attempts: 0 });
    await adapter.ack(held!);
  });

  it('takes a settle whose answer got lost for success when it is repeated (C15)', async () => {
    const { adapter, wire } = await space.opened({ commandTimeoutMs: TIMEOUT_MS });
    await add(adapter);
    const [job] = await take(adapter);
    wire.mute();
    expect(await code(adapter.nack(job!, FAILED, { dead: true }))).toBe('outcome_unknown');
    wire.heal();
    await writable(adapter);
    await adapter.nack(job!, FAILED, { dead: true });
    expect(await code(adapter.ack(job!))).toBe('lease_lost');
  });

  it('makes new connections when the server has become a replica, and refuses meanwhile (G07)', async () => {
    const { adapter } = await space.opened();
    await add(adapter);
    await server.do('replicaof', '127.0.0.1', '1');
    await eventually(async () => expect(await code(add(adapter))).toBe('storage_unavailable'));
    await eventually(() => expect(adapter.health().writable).toBe(false));
    await server.do('replicaof', 'no', 'one');
    await writable(adapter);
    await add(adapter);
  });

  it('refuses while another script holds Redis up, and goes on after it (G15)', async () => {
    const { adapter } = await space.opened({ commandTimeoutMs: TIMEOUT_MS });
    await add(adapter);
    await server.do('config', 'set', 'busy-reply-threshold', '50');
    const endless = server.do('eval', 'while true do end', '0').catch(() => undefined);
    await eventually(() => expect(adapter.health().writable).toBe(false));
    expect(['storage_unavailable', 'outcome_unknown']).toContain(await code(add(adapter)));
    await server.do('script', 'kill');
    await endless;
    await writable(adapter);
    const jobs: JobRecord[] = await take(adapter);
    expect(jobs).toHaveLength(1);
  });
});
