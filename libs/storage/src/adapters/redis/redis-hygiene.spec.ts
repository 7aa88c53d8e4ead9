import { jest } from '@jest/globals';
import { add, drain, eventually, FAILED, Namespace, newJob, take } from './adapter.fixture.js';
import { describeRedis, RedisServer } from './redis-server.fixture.js';

jest.setTimeout(60_000);

/** What a process itself sends; what its scripts call is not counted. */
const SENT = /cmdstat_(evalsha|eval|xread|scan|client\|\w+|info|config\|get|exists):calls=(\d+)/g;

/** A node of a stream, and what the allocator adds. */
const NODE_BYTES = 4096 + 1024;

describeRedis('Redis after many jobs', () => {
  let server: RedisServer;
  let space: Namespace;

  beforeAll(async () => {
    server = await RedisServer.start('--enable-debug-command', 'yes');
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

  async function sent(): Promise<number> {
    const stats = (await server.do('info', 'commandstats')) as string;
    return [...stats.matchAll(SENT)].reduce((sum, [, , calls]) => sum + Number(calls), 0);
  }

  it('has as many pending entries as running jobs, whatever became of the others (G23)', async () => {
    const { adapter } = await space.opened();
    for (let round = 0; round < 20; round++) {
      await adapter.enqueue(Array.from({ length: 100 }, () => newJob({ backoff: { baseMs: 0, capMs: 0 } })));
      const jobs = await take(adapter, 100);
      await Promise.all(
        jobs.map(async (job, i) => {
          if (i % 5 === 0) await adapter.cancel(job.id);
          if (i % 4 === 0) return adapter.nack(job, FAILED, { retryInMs: 0 });
          if (i % 4 === 1) return adapter.requeue(job, 'hung');
          return i % 4 === 2 ? adapter.release(job) : adapter.ack(job).catch(() => undefined);
        }),
      );
    }
    const running = await take(adapter, 7);
    expect(await server.do('xpending', space.key('s:default:5'), 'orchd')).toMatchObject([
      7,
      expect.anything(),
      expect.anything(),
      expect.anything(),
    ]);
    for (const job of running) await adapter.ack(job);
    await drain(adapter);
    expect(await server.do('xpending', space.key('s:default:5'), 'orchd')).toMatchObject([0, null, null, null]);
    expect(await server.do('xlen', space.key('s:default:5'))).toBe(0);
  });

  it('keeps a lane no larger than what runs and waits, although one job of every thousand runs for ever (G21)', async () => {
    const { adapter } = await space.opened();
    const running: string[] = [];
    for (let round = 0; round < 40; round++) {
      await adapter.enqueue(Array.from({ length: 100 }, () => newJob()));
      const [first, ...others] = await take(adapter, 100);
      if (round % 10 === 0) running.push(first!.id);
      else await adapter.ack(first!);
      await Promise.all(others.map((job) => adapter.ack(job)));
    }
    const bytes = (await server.do('memory', 'usage', space.key('s:default:5'), 'samples', 0)) as number;
    expect(bytes).toBeLessThan((running.length + 2) * NODE_BYTES);
  });

  it('sends at most 20 commands a second while nothing happens, claims that wait included', async () => {
    const { adapter } = await space.opened();
    await add(adapter);
    await take(adapter);
    const controller = new AbortController();
    const waiting = ['default', 'mail', 'video'].map((queue) =>
      adapter.claim({ queue, limit: 4, owner: 'test', leaseMs: 10_000, waitMs: 60_000, signal: controller.signal }),
    );
    const reaper = setInterval(() => void adapter.reap(100), 500);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const before = await sent();
    const seconds = 4;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    const rate = ((await sent()) - before) / seconds;
    clearInterval(reaper);
    controller.abort();
    await Promise.all(waiting);
    expect(rate).toBeLessThanOrEqual(20);
    expect(rate).toBeGreaterThan(1);
  });

  it('leaves no consumer behind when it is closed, and keeps one that still holds a job (G24)', async () => {
    for (let boot = 0; boot < 20; boot++) {
      const { adapter } = await space.opened();
      await add(adapter);
      await drain(adapter);
      await adapter.close();
    }
    const { adapter } = await space.opened();
    await add(adapter);
    const [job] = await take(adapter);
    await adapter.close();
    const consumers = (await server.do('xinfo', 'consumers', space.key('s:default:5'), 'orchd')) as unknown[];
    expect(consumers).toHaveLength(1);
    const next = await space.opened();
    await next.adapter.ack(job!);
  });

  it('writes an RDB that can be loaded again, entries deleted from the middle included (G22)', async () => {
    const { adapter } = await space.opened();
    await adapter.enqueue(Array.from({ length: 1000 }, (_, i) => newJob({ id: `job-${i}` })));
    const jobs = await take(adapter, 600);
    for (let i = 0; i < jobs.length; i += 3) await adapter.ack(jobs[i]!);
    for (let i = 700; i < 900; i += 2) await adapter.cancel(`job-${i}`);
    const counts = await adapter.counts();
    await server.do('debug', 'reload');
    await eventually(async () => expect(await adapter.counts()).toEqual(counts));
    expect(await drain(adapter)).toHaveLength(counts.ready);
    await adapter.ack(jobs[1]!);
  });

  it('drops a lane that nobody used for long, and makes it again when a job comes', async () => {
    const { adapter } = await space.opened();
    await adapter.close();
    await server.do('xgroup', 'create', space.key('s:old:5'), 'orchd', '0', 'mkstream');
    await server.do('hset', space.key('lanes'), 'old', '5');
    await server.do('hdel', space.key('fmt'), 'audited');
    const next = await space.opened();
    await eventually(async () => expect(await server.do('exists', space.key('s:old:5'))).toBe(0));
    expect(await server.do('hget', space.key('lanes'), 'old')).toBeNull();
    await add(next.adapter, { queue: 'old' });
    expect(await next.adapter.claim({ queue: 'old', limit: 1, owner: 'test', leaseMs: 60_000 })).toHaveLength(1);
  });
});
