import { jest } from '@jest/globals';
import { add, all, drain, eventually, LEASE_MS, Namespace, take } from './adapter.fixture.js';
import { FORMAT_VERSION } from './format.js';
import { describeRedis, RedisServer } from './redis-server.fixture.js';

jest.setTimeout(60_000);

const SHORT_LEASE_MS = 1000;

describeRedis('Redis that somebody has meddled with', () => {
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

  it.each([
    ['ZREM', (key: string, id: string) => ['zrem', key, id]],
    ['DEL', (key: string) => ['del', key]],
  ])('recovers a running job whose lease was lost by %s within two leases, and leaves a living one alone (C07)', async (_, damage) => {
    // No full audit is due: it would make the lease too, and it is the walk of the running jobs that has to.
    await server.do('hset', space.key('fmt'), 'version', FORMAT_VERSION, 'audited', Date.now());
    const { adapter } = await space.opened();
    await add(adapter, { id: 'dead' });
    await add(adapter, { id: 'living' });
    const [, living] = await take(adapter, 2, SHORT_LEASE_MS);
    for (const id of ['dead', 'living']) await server.do(...damage(space.key('lease'), id));
    // A lease is made within half a lease, for no longer than a lease; then the job is reaped like any other.
    await eventually(async () => {
      const [[seconds], ends] = (await Promise.all([server.do('time'), server.do('zscore', space.key('lease'), 'dead')])) as [
        [string],
        string | null,
      ];
      expect(Number(ends)).toBeGreaterThan(0);
      expect(Number(ends) - Number(seconds) * 1000).toBeLessThanOrEqual(SHORT_LEASE_MS + 1000);
    });
    await eventually(async () => {
      expect(await adapter.extend([{ lease: living! }], SHORT_LEASE_MS)).toEqual(['held']);
      await adapter.reap(100);
      expect(await adapter.get('dead')).toMatchObject({ state: 'ready', requeues: 1 });
    });
    await adapter.ack(living!);
  });

  it('makes ready jobs claimable again whose stream was deleted, and lets the running ones end (G02)', async () => {
    const { adapter } = await space.opened();
    const ids = await Promise.all([1, 2, 3, 4].map((n) => add(adapter, { id: `job-${n}`, ...(n === 4 && { priority: 9 }) })));
    const [running] = await take(adapter);
    expect(running!.id).toBe('job-4');
    await server.do('del', space.key('s:default:5'), space.key('s:default:9'));
    const waiting = adapter.claim({ queue: 'default', limit: 3, owner: 'test', leaseMs: LEASE_MS, waitMs: 30_000 });
    const jobs = await eventually(async () => {
      const done = [...(await waiting), ...(await take(adapter, 3))];
      expect(done.length).toBeGreaterThan(0);
      return done;
    });
    for (const job of jobs) await adapter.ack(job);
    await eventually(async () => {
      await drain(adapter);
      expect((await adapter.counts()).done).toBe(ids.length - 1);
    });
    await adapter.ack(running!);
  });

  it('hands a running job to nobody when the group was made again, and gives it back to its process', async () => {
    const { adapter } = await space.opened();
    await add(adapter, { id: 'running' });
    const [running] = await take(adapter);
    await add(adapter, { id: 'waiting' });
    await server.do('xgroup', 'destroy', space.key('s:default:5'), 'orchd');
    expect((await take(adapter, 5)).map(({ id }) => id)).toEqual(['waiting']);
    expect(await server.do('xpending', space.key('s:default:5'), 'orchd')).toEqual([
      2,
      expect.anything(),
      expect.anything(),
      expect.anything(),
    ]);
    await adapter.ack(running!);
    expect((await adapter.get('running'))?.state).toBe('done');
  });

  it('goes on after all was flushed, says so, and serves who waits (G02)', async () => {
    const { adapter } = await space.opened();
    await add(adapter);
    const [lost] = await take(adapter);
    const waiting = adapter.claim({ queue: 'default', limit: 1, owner: 'test', leaseMs: LEASE_MS, waitMs: 60_000 });
    await server.do('flushall');
    await eventually(() => expect(space.warnings).toContain('Redis has lost the jobs of this namespace'));
    await expect(adapter.ack(lost!)).rejects.toMatchObject({ code: 'lease_lost' });
    const id = await add(adapter);
    expect((await waiting).map((job) => job.id)).toEqual([id]);
    expect(await adapter.counts()).toMatchObject({ ready: 0, active: 1 });
  });

  it('passes over entries of jobs that are not there, and clears them away', async () => {
    const { adapter } = await space.opened();
    await add(adapter, { id: 'first' });
    for (let i = 0; i < 2500; i += 500) {
      const entries = Array.from({ length: 500 }, (_, n) => `redis.call('XADD', KEYS[1], '*', 'j', 'nobody-${i + n}')`);
      await server.do('eval', entries.join('\n'), 1, space.key('s:default:5'));
    }
    await add(adapter, { id: 'last' });
    const found: string[] = [];
    await eventually(async () => {
      found.push(...(await take(adapter, 10)).map(({ id }) => id));
      expect(found).toEqual(['first', 'last']);
    });
    expect(await server.do('xlen', space.key('s:default:5'))).toBe(2);
  });

  it('makes every index again from the hashes when a process starts, and counts right', async () => {
    const first = await space.opened();
    for (const id of ['ready-1', 'ready-2', 'active', 'done', 'dead', 'cancelled'])
      await add(first.adapter, { id, priority: id.startsWith('ready') ? 5 : 9 });
    await add(first.adapter, { id: 'delayed', delayMs: 3_600_000, dedupeKey: 'key', fingerprint: 'f' });
    const [active, done, dead] = await take(first.adapter, 3);
    await first.adapter.ack(done!);
    await first.adapter.nack(dead!, { code: 'failed', message: 'no' }, { dead: true });
    await first.adapter.cancel('cancelled');
    const before = await all(first.adapter);
    const counts = await first.adapter.counts();
    const indexes = ['s:default:5', 's:default:9', 'lanes', 'lease', 'delayed', 'done', 'dead', 'cancelled', 'ids', 'i:', 'd:key', 'fmt'];
    await server.do('del', ...indexes.map((name) => space.key(name)));
    const { adapter } = await space.opened();
    await eventually(async () => expect(await adapter.counts()).toEqual(counts));
    expect(await all(adapter)).toEqual(before);
    const [again] = await adapter.enqueue([{ queue: 'other', type: 'other', payload: '', dedupeKey: 'key', fingerprint: 'f' }]);
    expect(again).toMatchObject({ id: 'delayed', created: false });
    expect((await drain(adapter)).sort()).toEqual(['ready-1', 'ready-2']);
    await adapter.ack(active!);
  });

  it('forgets a job whose hash was deleted', async () => {
    const first = await space.opened();
    for (const id of ['gone', 'there']) await add(first.adapter, { id, payload: 'x'.repeat(1000) });
    await server.do('del', space.key('j:gone'));
    await server.do('hdel', space.key('fmt'), 'audited');
    const { adapter } = await space.opened();
    await eventually(async () => expect(await adapter.counts()).toMatchObject({ ready: 1 }));
    await eventually(async () => expect(await server.do('exists', space.key('p:gone'))).toBe(0));
    expect((await take(adapter, 5)).map(({ id }) => id)).toEqual(['there']);
  });

  it('refuses jobs of another format, and changes nothing of them (G34)', async () => {
    const first = await space.opened();
    await add(first.adapter);
    await first.adapter.close();
    await server.do('hset', space.key('fmt'), 'version', '1');
    const { adapter } = await space.adapter();
    await expect(adapter.open()).rejects.toMatchObject({ code: 'storage_damaged' });
    expect(await server.do('hget', space.key('fmt'), 'version')).toBe('1');
  });
});
