import { jest } from '@jest/globals';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { all, drain, eventually, FAILED, Namespace, newJob, take } from './adapter.fixture.js';
import { describeRedis, RedisServer } from './redis-server.fixture.js';

jest.setTimeout(60_000);

const BATCH = 20;
const CUTS = 12;

describeRedis('Redis whose log was cut', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always', '--aof-load-truncated', 'yes');
  });

  afterAll(async () => {
    await server.stop();
  });

  async function logFile(): Promise<string> {
    const dir = join(server.dir, 'appendonlydir');
    const name = (await readdir(dir)).find((file) => file.endsWith('.incr.aof'))!;
    return join(dir, name);
  }

  it('has each step of each job whole or not at all, wherever in the last steps the log ends (G04, G35)', async () => {
    const space = new Namespace(server);
    const { adapter } = await space.opened();
    for (let i = 0; i < 3; i++) await adapter.enqueue(Array.from({ length: BATCH }, () => newJob({ queue: `batch-${i}` })));
    const before = (await readFile(await logFile())).length;
    await adapter.enqueue(Array.from({ length: BATCH }, () => newJob()));
    const [acked, nacked, released, cancelled] = await take(adapter, 8);
    await adapter.ack(acked!, 'result');
    await adapter.nack(nacked!, FAILED, { retryInMs: 5 });
    await adapter.release(released!);
    await adapter.cancel(cancelled!.id);
    await adapter.requeue(cancelled!, 'hung');
    await space.dispose();
    await server.kill();
    const log = await readFile(await logFile());
    for (let cut = 1; cut <= CUTS; cut++) {
      const end = before + Math.floor(((log.length - before) * cut) / (CUTS + 1));
      await writeFile(await logFile(), log.subarray(0, end));
      await server.begin();
      await look(space, end);
      await server.kill();
    }
  });

  async function look(space: Namespace, end: number): Promise<void> {
    const again = new Namespace(server, space.prefix);
    const { adapter } = await again.opened();
    const jobs = await all(adapter);
    const found = `cut at ${end}`;
    expect([found, jobs.length % BATCH]).toEqual([found, 0]);
    const counts = { delayed: 0, ready: 0, active: 0, done: 0, dead: 0, cancelled: 0 };
    for (const job of jobs) {
      counts[job.state]++;
      const open = job.state === 'active' || job.state === 'done' || (job.state === 'cancelled' && job.starts > 0) ? 1 : 0;
      expect([found, job.starts]).toEqual([found, job.attempts + job.requeues + job.releases + open]);
    }
    expect([found, await adapter.counts()]).toEqual([found, counts]);
    await eventually(async () => {
      await drain(adapter);
      expect([found, (await adapter.counts()).delayed]).toEqual([found, 0]);
    });
    expect([found, (await adapter.counts()).active]).toEqual([found, counts.active]);
    await again.dispose();
  }
});
