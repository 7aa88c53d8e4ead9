import { expect, it } from '@jest/globals';
import { readdirSync, watch } from 'node:fs';
import { JobClient, recount, ServiceFixture, statsOf, SUITE_STORAGE, type ServiceProcess } from './harness/index.js';

const ROUNDS = 4;
const LIMIT_MS = 180_000;
const CLIENTS = 4;
const STANDING = 300;
const FAR_MS = 3_600_000;
const FLAGS = ['--wal-segment-bytes', '65536', '--keep-finished', '50'];
const orchd = new ServiceFixture();

/** Jobs come and go until the process is gone. */
async function churn(service: ServiceProcess): Promise<void> {
  const jobs = Array.from({ length: 200 }, () => ({ work_ms: 0 }));
  for (;;) {
    const answer = await service.post('/jobs/batch', { jobs }).catch(() => null);
    if (answer === null) return;
    expect([201, 503]).toContain(answer.status);
  }
}

/** Resolves when the n-th segment from now on is removed. */
function removed(folder: string, n: number): Promise<void> {
  const segments = () => readdirSync(folder).filter((name) => name.endsWith('.log'));
  let known = new Set(segments());
  let left = n;
  return new Promise((resolve) => {
    const watcher = watch(folder, () => {
      const now = new Set(segments());
      left -= [...known].filter((name) => !now.has(name)).length;
      known = now;
      if (left > 0) return;
      watcher.close();
      resolve();
    });
  });
}

const onLog = SUITE_STORAGE === 'wal' ? it : it.skip;

onLog(
  'a service that is killed while it cleans its log, again and again, loses no job that stands and miscounts none',
  async () => {
    const dataDir = orchd.folder();
    let service = await orchd.start({ dataDir, flags: FLAGS });
    const standing = Array.from({ length: STANDING }, () => ({ work_ms: 1, delay_ms: FAR_MS }));
    const { body } = await service.post('/jobs/batch', { jobs: standing });
    const { ids } = body as { ids: string[] };

    for (let round = 1; round <= ROUNDS; round++) {
      const clients = Array.from({ length: CLIENTS }, () => churn(service));
      await removed(dataDir, round);
      await service.kill();
      await Promise.all(clients);

      service = await orchd.start({ dataDir, flags: FLAGS });
      const { stats, jobs } = await recount(service);
      const byId = new Map(jobs.map((job) => [job.id, job]));
      for (const id of ids) expect(byId.get(id)).toMatchObject({ state: 'delayed', starts: 0 });
      const count = (state: string) => jobs.filter((job) => job.state === state).length;
      // Finished ones may be forgotten between the two questions.
      for (const state of ['ready', 'delayed', 'active', 'dead', 'cancelled'] as const) expect(stats[state]).toBe(count(state));
      expect(count('done')).toBeLessThanOrEqual(stats.done);
    }
    expect(await new JobClient(service).get(ids[0]!)).toMatchObject({ payload: { work_ms: 1 } });
    expect((await statsOf(service)).delayed).toBe(STANDING);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  },
  LIMIT_MS,
);
