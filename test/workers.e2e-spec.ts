import { beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout } from 'node:timers/promises';
import {
  eventually,
  isFinal,
  listAll,
  ServiceFixture,
  SUITE_STORAGE,
  statsOf,
  type JobView,
  type ServiceProcess,
  type StatsView,
} from './harness/index.js';
import { JobClient } from './harness/job-client.js';

const WORKERS = 4;
const HB_TIMEOUT_MS = 100;

/** Most tests share a service, and look at their own jobs only. */
const shared = new ServiceFixture('file');
const orchd = new ServiceFixture();
let service: ServiceProcess;
let jobs: JobClient;

beforeAll(async () => {
  service = await shared.start({ flags: ['--workers', String(WORKERS), '--hb-timeout-ms', String(HB_TIMEOUT_MS)] });
  jobs = new JobClient(service);
});

async function enqueue(count: number, job: object): Promise<string[]> {
  const { status, body } = await service.post<{ ids: string[] }>('/jobs/batch', { jobs: Array.from({ length: count }, () => job) });
  expect(status).toBe(201);
  return body.ids;
}

async function all(ids: readonly string[]): Promise<JobView[]> {
  return (await listAll(service)).filter(({ id }) => ids.includes(id));
}

/** Resolves with the jobs when all of them are final. */
function finished(ids: readonly string[]): Promise<JobView[]> {
  return eventually('the jobs to end', async () => {
    const found = await all(ids);
    return found.every(({ state }) => isFinal(state)) ? found : null;
  });
}

/** Looks at `/stats` again and again until the promise resolves. */
async function watched(until: Promise<unknown>): Promise<StatsView[]> {
  const looks: StatsView[] = [];
  let over = false;
  void until.finally(() => (over = true));
  while (!over) looks.push(await statsOf(service));
  await until;
  return looks;
}

describe('jobs', () => {
  it('are all completed, each by one start, and never more at once than there are workers', async () => {
    const ids = await enqueue(300, { work_ms: 5 });
    // In Redis a job is active until its ack has got there; its worker has gone on by then.
    const most = SUITE_STORAGE === 'wal' ? WORKERS : 2 * WORKERS;
    for (const { active } of await watched(finished(ids))) expect(active).toBeLessThanOrEqual(most);
    const found = await all(ids);
    expect(found).toHaveLength(300);
    for (const job of found) expect(job).toMatchObject({ state: 'done', starts: 1, attempts: 0, requeues: 0 });
  });

  it('that always fail are dead after their attempts: five, or as many as they say', async () => {
    const { retried } = await statsOf(service);
    const usual = await jobs.accepted({ work_ms: 1, fail_prob: 1 });
    const single = await jobs.accepted({ work_ms: 1, fail_prob: 1, max_attempts: 1 });
    expect(await jobs.reached(usual, 'dead')).toMatchObject({ attempts: 5, starts: 5, requeues: 0, error: { code: 'failed' } });
    expect(await jobs.reached(single, 'dead')).toMatchObject({ attempts: 1, starts: 1, requeues: 0, error: { code: 'failed' } });
    expect(await statsOf(service)).toMatchObject({ retried: retried + 4 });
  });

  it('that work for five heartbeat time-outs, and beat, are started once', async () => {
    const ids = await enqueue(2 * WORKERS, { work_ms: 5 * HB_TIMEOUT_MS });
    for (const job of await finished(ids)) expect(job).toMatchObject({ state: 'done', starts: 1, requeues: 0 });
  });

  it('are not taken away because the whole process stood still for ten heartbeat time-outs', async () => {
    const ids = await enqueue(WORKERS, { work_ms: 15 * HB_TIMEOUT_MS });
    await eventually('all to run', async () => (await statsOf(service)).active === ids.length);
    service.signal('SIGSTOP');
    await setTimeout(10 * HB_TIMEOUT_MS);
    service.signal('SIGCONT');
    for (const job of await finished(ids)) expect(job).toMatchObject({ state: 'done', starts: 1, requeues: 0 });
  });

  it('that exceed their timeout_ms are failed, although they beat, and their workers replaced', async () => {
    const { workers } = await statsOf(service);
    const id = await jobs.accepted({ type: 'simulated', payload: { work_ms: 600_000 }, timeout_ms: 50, max_attempts: 2 });
    expect(await jobs.reached(id, 'dead')).toMatchObject({ attempts: 2, starts: 2, error: { code: 'timeout' } });
    expect(await statsOf(service)).toMatchObject({ workers: { configured: WORKERS, healthy: WORKERS, replaced: workers.replaced + 2 } });
  });
});

describe('a hung worker', () => {
  it('is replaced, and its job requeued or given up, while there are never more workers than configured', async () => {
    const before = await statsOf(service);
    const hanging = await enqueue(2 * WORKERS, { hang_prob: 1, max_requeues: 2 });
    const good = await enqueue(100, { work_ms: 5 });
    for (const { active, workers } of await watched(finished([...hanging, ...good]))) {
      expect(workers.configured).toBe(WORKERS);
      expect(Math.max(workers.busy, workers.healthy, active)).toBeLessThanOrEqual(WORKERS);
    }
    for (const job of await all(good)) expect(job).toMatchObject({ state: 'done', starts: 1 });
    for (const job of await all(hanging)) {
      expect(job).toMatchObject({ state: 'dead', starts: 3, requeues: 3, attempts: 0, error: { code: 'hung' } });
    }
    const hangs = 3 * hanging.length;
    expect(await statsOf(service)).toMatchObject({
      requeued: before.requeued + hangs,
      workers: { configured: WORKERS, healthy: WORKERS, busy: 0, replaced: before.workers.replaced + hangs },
    });
  });

  it('gives its job to another one, again and again until it is done', async () => {
    const ids = await enqueue(8, { hang_prob: 0.5, work_ms: 1, max_requeues: 1000 });
    for (const { state, starts, requeues } of await finished(ids)) {
      expect(state).toBe('done');
      expect(starts).toBe(requeues + 1);
    }
  });

  it('is left alone when the health check is off', async () => {
    const lax = await orchd.start({ flags: ['--workers', '2', '--health-check', 'off', '--hb-timeout-ms', String(HB_TIMEOUT_MS)] });
    const laxJobs = new JobClient(lax);
    const hung = await laxJobs.accepted({ hang_prob: 1 });
    await laxJobs.reached(hung, 'active');
    for (let i = 0; i < 2; i++) await laxJobs.reached(await laxJobs.accepted({ work_ms: 5 * HB_TIMEOUT_MS }), 'done');
    expect(await laxJobs.get(hung)).toMatchObject({ state: 'active', starts: 1 });
    expect(await statsOf(lax)).toMatchObject({ requeued: 0, workers: { configured: 2, busy: 1, replaced: 0 } });
  });
});

describe('DELETE', () => {
  it('keeps a ready job from ever being started, and ends a hung one about a second later', async () => {
    const patient = await orchd.start({ flags: ['--workers', '1', '--hb-timeout-ms', '600000'] });
    const patientJobs = new JobClient(patient);
    const hung = await patientJobs.accepted({ hang_prob: 1 });
    await patientJobs.reached(hung, 'active');
    const ready = await patientJobs.accepted({ work_ms: 1 });
    expect((await patient.call('DELETE', `/jobs/${ready}`)).status).toBe(200);

    const asked = Date.now();
    expect((await patient.call('DELETE', `/jobs/${hung}`)).status).toBe(202);
    const { finished_at } = await patientJobs.reached(hung, 'cancelled');
    expect(finished_at! - asked).toBeGreaterThanOrEqual(900);
    expect(finished_at! - asked).toBeLessThan(3000);

    await patientJobs.reached(await patientJobs.accepted({ work_ms: 1 }), 'done');
    expect(await patientJobs.get(ready)).toMatchObject({ state: 'cancelled', starts: 0 });
    expect(await statsOf(patient)).toMatchObject({ workers: { configured: 1, healthy: 1, replaced: 1 } });
  });
});

describe('a process that is killed with a job', () => {
  it('costs the job no attempt, also when it was the last one', async () => {
    const dataDir = orchd.folder();
    const doomed = await orchd.start({ dataDir });
    const before = new JobClient(doomed);
    const last = await before.accepted({ work_ms: 500, max_attempts: 1 });
    const unlucky = await before.accepted({ work_ms: 500, max_requeues: 0 });
    await Promise.all([before.reached(last, 'active'), before.reached(unlucky, 'active')]);
    await doomed.kill();

    const after = new JobClient(await orchd.start({ dataDir }));
    expect(await after.reached(last, 'done')).toMatchObject({ starts: 2, attempts: 0, requeues: 1 });
    expect(await after.get(unlucky)).toMatchObject({ state: 'dead', starts: 1, requeues: 1, error: { code: 'lease_expired' } });
  });
});
