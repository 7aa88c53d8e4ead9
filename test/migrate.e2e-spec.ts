import { beforeAll, describe, expect, it } from '@jest/globals';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeWith, eventually, JobClient, listAll, ServiceFixture, type JobView, type ServiceProcess } from './harness/index.js';
import { REDIS, RedisFixture } from './harness/redis.js';

const API = ['--role', 'api'];
/** More than one call to the target moves. */
const WAITING = 400;
const original = new ServiceFixture('file');
const orchd = new ServiceFixture();
let used: string;
/** Its jobs, as the API showed them. */
let before: ReadonlyMap<string, JobView>;

/** A log as kill -9 leaves it: a job running, one of each kind that has ended, and many that wait. */
beforeAll(async () => {
  used = original.folder();
  const service = await original.start({ dataDir: used, flags: ['--workers', '4', '--hb-timeout-ms', '60000'] });
  const jobs = new JobClient(service);
  const done = await jobs.accepted({ id: 'done', work_ms: 1, dedupe_key: 'of done' });
  await jobs.reached(done, 'done');
  await jobs.accepted({ id: 'dead', fail_prob: 1, max_attempts: 1 });
  await jobs.reached('dead', 'dead');
  await jobs.accepted({ id: 'later', work_ms: 1, delay_ms: 3_600_000, priority: 7 });
  await jobs.accepted({ id: 'running', work_ms: 1, hang_prob: 1, dedupe_key: 'of running' });
  await jobs.reached('running', 'active');
  const batch = Array.from({ length: WAITING }, (_, n) => ({ id: `waiting-${n}`, work_ms: 0, delay_ms: 60_000_000 + n }));
  expect((await service.post('/jobs/batch', { jobs: batch })).status).toBe(201);
  const shown = await listAll(service);
  await service.kill();
  before = new Map(shown.map((job) => [job.id, job]));
});

function usedLog(): string {
  const dataDir = orchd.folder();
  cpSync(used, dataDir, { recursive: true });
  return dataDir;
}

async function migrate(...args: string[]): Promise<ServiceProcess & { code: number | null }> {
  const process = orchd.launchBare({ flags: ['migrate', ...args] });
  return Object.assign(process, { code: (await process.exited).code });
}

describeWith([REDIS], 'orchd migrate from a log to Redis', () => {
  const redis = new RedisFixture();
  let namespaces = 0;
  const target = () => ['--to', `redis:${redis.server.url}`, '--redis-prefix', `moved-${++namespaces}`];
  const onRedis = (to: readonly string[]) => ['--redis-url', redis.server.url, '--redis-prefix', to.at(-1)!];

  it('moves every job as it was; what ran is requeued, and orchd on Redis goes on with all of them', async () => {
    const dataDir = usedLog();
    const to = target();
    const moved = await migrate('--from', `wal:${dataDir}`, ...to);
    // Where it takes more than a second it tells how far it is.
    expect({ code: moved.code, stderr: moved.stderr.replace(/^orchd: \d+ of \d+ jobs\n/gm, '') }).toEqual({ code: 0, stderr: '' });
    expect(moved.stdout).toContain(`${before.size} jobs, ${before.size} moved, 0 there already; durability memory\n`);

    const service = await orchd.start({ storage: 'redis', flags: [...API, ...onRedis(to)] });
    const after = await listAll(service);
    expect(after.map(({ id }) => id).sort()).toEqual([...before.keys()].sort());
    for (const job of after) {
      if (job.id !== 'running') expect(job).toEqual(before.get(job.id));
    }
    const running = await new JobClient(service).get('running');
    expect(running).toMatchObject({ state: 'ready', starts: 1, requeues: 1, attempts: 0, error: { code: 'lease_expired' } });
    expect(running.epoch).toBeGreaterThan(before.get('running')!.epoch);
    const again = await service.post<JobView>('/jobs', { id: 'done', work_ms: 1, dedupe_key: 'of done' });
    expect(again).toMatchObject({ status: 200, body: { id: 'done', state: 'done' } });
    expect((await service.call('DELETE', '/jobs/running')).status).toBe(200);
    expect((await service.post('/jobs/dead/redrive')).status).toBe(200);
    await service.stop();
    const worker = await orchd.start({ storage: 'redis', flags: onRedis(to) });
    expect(await new JobClient(worker).reached('dead', 'dead')).toMatchObject({ attempts: 1 });
  });

  it('copies what is missing after a kill -9, and nothing twice', async () => {
    const dataDir = usedLog();
    const to = target();
    const first = orchd.launchBare({ flags: ['migrate', '--from', `wal:${dataDir}`, ...to] });
    await eventually('the folder to be marked', () => existsSync(join(dataDir, 'MIGRATED')));
    await first.kill();
    expect((await migrate('--from', `wal:${dataDir}`, ...to)).code).toBe(0);
    const again = await migrate('--from', `wal:${dataDir}`, ...to);
    expect(again.stdout).toContain(`${before.size} jobs, 0 moved, ${before.size} there already`);
    const service = await orchd.start({ storage: 'redis', flags: [...API, ...onRedis(to)] });
    expect((await listAll(service)).map(({ id }) => id).sort()).toEqual([...before.keys()].sort());
  });

  it('leaves a folder on which orchd does not start, with one clear line and exit code 78, unless it is forced', async () => {
    const dataDir = usedLog();
    await migrate('--from', `wal:${dataDir}`, ...target());
    const refused = orchd.launch({ dataDir });
    expect(await refused.exited).toEqual({ code: 78, signal: null });
    expect(refused.stderr).toMatch(/^orchd: .* is marked MIGRATED: its jobs were moved to redis:.*--force\)\n$/);
    const forced = await orchd.start({ dataDir, flags: [...API, '--force'] });
    expect(await listAll(forced)).toHaveLength(before.size);
  });

  it('refuses a log that an orchd has with exit code 75, and touches neither', async () => {
    const dataDir = usedLog();
    await orchd.start({ dataDir, flags: API });
    const to = target();
    const refused = await migrate('--from', `wal:${dataDir}`, ...to);
    expect(refused.code).toBe(75);
    expect(refused.stderr).toMatch(/^orchd: .* is in use by another orchd \(pid \d+\)\.\n$/);
    expect(existsSync(join(dataDir, 'MIGRATED'))).toBe(false);
    expect(await redis.server.do('KEYS', `{${to.at(-1)!}}*`)).toEqual([]);
  });
});

describe('orchd migrate', () => {
  it('gives up on a Redis that is not there, with exit code 74 and the folder unmarked', async () => {
    const dataDir = usedLog();
    const refused = await migrate('--from', `wal:${dataDir}`, '--to', 'redis://127.0.0.1:1');
    expect(refused.code).toBe(74);
    expect(refused.stderr).toContain('ECONNREFUSED');
    expect(existsSync(join(dataDir, 'MIGRATED'))).toBe(false);
  });

  it('tells all that is wrong with its arguments at once, and prints its help', async () => {
    const wrong = await migrate('--from', 'redis://a', '--to', 'memory:', '--nonsense');
    expect([wrong.code, wrong.stderr.trimEnd().split('\n').length]).toEqual([78, 3]);
    const help = await migrate('--help');
    expect([help.code, help.stderr]).toEqual([0, '']);
    expect(help.stdout).toContain('--from wal:DIR --to redis:URL');
  });
});
