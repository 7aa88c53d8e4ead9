import { describe, expect, it } from '@jest/globals';
import {
  C_COMPILER,
  ClockShim,
  describeWith,
  eventually,
  listAll,
  quiet,
  ServiceFixture,
  SUITE_STORAGE,
  statsOf,
  type ServiceProcess,
} from './harness/index.js';
import { JobClient } from './harness/job-client.js';

const HOUR_MS = 3_600_000;
const DAY_S = 86_400;
/** Node fires a timer above 2^31 - 1 ms after one millisecond, and says so on stderr. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Longest first, so that each of them is for a while the one that is due next. */
const BEYOND_A_TIMER_MS = [3_155_760_000_000, 1e12, 2 ** 32, 2 ** 31];
const orchd = new ServiceFixture();

/** A short delay ends, and meanwhile none of these jobs was run, nor a timer too long. */
async function expectKept(service: ServiceProcess, ids: readonly string[]): Promise<void> {
  const jobs = new JobClient(service);
  await jobs.reached(await jobs.accepted({ work_ms: 1, delay_ms: 50 }), 'done');
  for (const id of ids) expect(await jobs.get(id)).toMatchObject({ state: 'delayed', starts: 0 });
  expect(service.stderr).toBe('');
}

describe('a delay', () => {
  it('beyond what a timer can hold is kept, and no timer is set for it, before and after a restart', async () => {
    const dataDir = orchd.folder();
    let service = await orchd.start({ dataDir });
    const accept = (when: object) => new JobClient(service).accepted({ work_ms: 1, ...when });
    const ids: string[] = [];
    for (const ms of BEYOND_A_TIMER_MS) ids.push(await accept({ delay_ms: ms }));
    await expectKept(service, ids);
    expect(await service.stop()).toEqual({ code: 0, signal: null });

    service = await orchd.start({ dataDir });
    await expectKept(service, ids);
    // Only now: an instant is looked for so often that no long timer would be set beside it.
    for (const ms of [...BEYOND_A_TIMER_MS, LONGEST_TIMER_MS])
      ids.push(await accept({ run_at: Date.now() + ms }), await accept({ delay_ms: ms }));
    await expectKept(service, ids);
  });

  it('is over once, however often the process is killed around that moment', async () => {
    const dataDir = orchd.folder();
    const jobs = 200;
    let service = await orchd.start({ dataDir, flags: ['--workers', '4'] });
    const batch = Array.from({ length: jobs }, (_, n) => ({ work_ms: 2, delay_ms: 50 + Math.floor(n / 4), max_requeues: 1000 }));
    expect((await service.post('/jobs/batch', { jobs: batch })).status).toBe(201);
    for (const share of [0.1, 0.4, 0.7]) {
      await eventually('some to be done', async () => (await statsOf(service)).done > share * jobs);
      await service.kill();
      service = await orchd.start({ dataDir, flags: ['--workers', '4'] });
    }
    await quiet(service);
    const found = await listAll(service);
    expect(found).toHaveLength(jobs);
    for (const { state, starts, requeues } of found) expect({ state, starts }).toEqual({ state: 'done', starts: 1 + requeues });
    expect(found.reduce((sum, { requeues }) => sum + requeues, 0)).toBeLessThanOrEqual(3 * 4);
  });
});

describe('a retry', () => {
  it('of jobs that fail together comes at times that are spread over half the backoff, at the cap too', async () => {
    const service = await orchd.start({ storage: 'memory', flags: ['--workers', '64'] });
    const job = { work_ms: 0, fail_prob: 1, backoff: { base_ms: 10 * HOUR_MS, cap_ms: HOUR_MS }, max_attempts: 2 };
    const jobs = 1000;
    expect((await service.post('/jobs/batch', { jobs: Array.from({ length: jobs }, () => job) })).status).toBe(201);
    await eventually('all to have failed', async () => (await statsOf(service)).delayed === jobs);
    const slots = Array.from({ length: 10 }, () => 0);
    for (const { run_at, error } of await listAll(service)) {
      const share = (run_at - error!.at - HOUR_MS) / (HOUR_MS / 2);
      expect(share).toBeGreaterThanOrEqual(0);
      expect(share).toBeLessThanOrEqual(1);
      slots[Math.min(9, Math.floor(share * 10))]!++;
    }
    // A tenth of them each, 100; a slot with fewer than 40 or more than 160 comes once in many millions of runs.
    expect(Math.min(...slots)).toBeGreaterThan(40);
    expect(Math.max(...slots)).toBeLessThan(160);
  });
});

// Redis goes by its own clock, whatever is done to that of orchd.
const describeOnLog = SUITE_STORAGE === 'wal' ? describeWith : () => undefined;

describeOnLog([C_COMPILER], 'a wall clock that is set', () => {
  it.each([
    ['a day ahead', DAY_S],
    ['a day back', -DAY_S],
  ])('%s takes no job from its worker and ends no delay; what was to run at an instant follows it', async (_what, seconds) => {
    const clock = new ClockShim(orchd.folder());
    const service = await orchd.start({ env: clock.env, flags: ['--lease-ms', '1000'] });
    const jobs = new JobClient(service);
    const running = await Promise.all(Array.from({ length: 4 }, () => jobs.accepted({ work_ms: 1500 })));
    const delayed = await jobs.accepted({ work_ms: 1, delay_ms: 2 * HOUR_MS });
    const soon = await jobs.accepted({ work_ms: 1, delay_ms: 1000 });
    const timed = await jobs.accepted({ work_ms: 1, run_at: Date.now() + 2 * HOUR_MS });
    await eventually('all to run', async () => (await statsOf(service)).active === running.length);

    clock.setAhead(seconds);
    for (const id of running) expect(await jobs.reached(id, 'done')).toMatchObject({ starts: 1, requeues: 0 });
    expect(await jobs.reached(soon, 'done')).toMatchObject({ starts: 1 });
    if (seconds > 0) await jobs.reached(timed, 'done');
    else expect(await jobs.get(timed)).toMatchObject({ state: 'delayed' });
    expect(await jobs.get(delayed)).toMatchObject({ state: 'delayed' });
    const { finished_at } = await jobs.get(soon);
    expect(Math.abs(finished_at! - Date.now() - seconds * 1000)).toBeLessThan(60_000);
    expect(await statsOf(service)).toMatchObject({ requeued: 0, workers: { replaced: 0 } });
  });
});
