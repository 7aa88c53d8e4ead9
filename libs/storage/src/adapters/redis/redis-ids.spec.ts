import { jest } from '@jest/globals';
import { LIMITS } from '../../contract/index.js';
import { seededRandom } from '../../job-table/seeded-random.fixture.js';
import { add, all, drain, Namespace, newJob } from './adapter.fixture.js';
import { describeRedis, RedisServer } from './redis-server.fixture.js';

jest.setTimeout(60_000);

const CHUNK = 32;

describeRedis('Redis and the order of ids', () => {
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

  async function chunks(): Promise<string[]> {
    return (await server.do('zrange', space.key('ids'), 0, -1)) as string[];
  }

  it('lists ids of any kind that come in any order, and go in any order', async () => {
    const { adapter } = await space.opened();
    const random = seededRandom(5);
    const below = (end: number): number => Math.floor(random() * end);
    const waiting = Array.from({ length: 3000 }, (_, i) => {
      const kinds = [`job-${i}`, `Job_${i % 7}.${i}`, `${i}`, `j${'x'.repeat(i % 100)}:${i}`, i.toString(36).toUpperCase() + '-a'];
      return kinds[below(kinds.length)]!;
    });
    const expected = new Set<string>();
    while (waiting.length > 0 || expected.size > 0) {
      const batch = waiting.splice(0, 1 + below(300)).sort(() => random() - 0.5);
      const ids = [...new Set(batch)].filter((id) => !expected.has(id));
      if (ids.length > 0) await adapter.enqueue(ids.map((id) => newJob({ id, queue: random() < 0.5 ? 'default' : 'kept' })));
      for (const id of ids) expected.add(id);
      expect((await all(adapter)).map(({ id }) => id)).toEqual([...expected].sort());
      for (const id of await drain(adapter)) expected.delete(id);
      if (waiting.length === 0) {
        const jobs = await adapter.claim({ queue: 'kept', limit: LIMITS.claim, owner: 'test', leaseMs: 60_000 });
        await Promise.all(jobs.map((job) => adapter.ack(job)));
        expected.clear();
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
      while ((await adapter.prune({ keepFinishedMs: 1, keepFinished: 0, keepDeadMs: 0 })) > 0);
    }
    expect(await all(adapter)).toEqual([]);
    expect(await chunks()).toEqual(['']);
  });

  it('keeps ids that come in order in full chunks', async () => {
    const { adapter } = await space.opened();
    for (let i = 0; i < 10; i++) await adapter.enqueue(Array.from({ length: 100 }, () => newJob()));
    for (let i = 0; i < 200; i++) await add(adapter);
    const starts = await chunks();
    expect(starts).toHaveLength(Math.ceil(1200 / CHUNK));
    for (const start of starts) {
      expect(await server.do('llen', space.key(`i:${start}`))).toBeLessThanOrEqual(CHUNK);
    }
    expect(await all(adapter)).toHaveLength(1200);
  });

  it('splits the chunk that ids come into from behind, as of processes whose clocks differ', async () => {
    const { adapter } = await space.opened();
    for (let i = 0; i < 400; i++) await add(adapter, { id: `job-${String(1000 - i)}` });
    for (const start of await chunks()) expect(await server.do('llen', space.key(`i:${start}`))).toBeLessThanOrEqual(CHUNK);
    const ids = (await all(adapter)).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 400 }, (_, i) => `job-${1000 - i}`).sort());
    const page = await adapter.list({ limit: 10, cursor: 'job-700' });
    expect(page.jobs.map(({ id }) => id)).toEqual(ids.filter((id) => id > 'job-700').slice(0, 10));
  });
});
