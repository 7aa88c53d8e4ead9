import { WorkerPool } from '@orchd/queue';
import { performance } from 'node:perf_hooks';
import { freshFolder } from '../lib/folders.mjs';
import { shown, withInterval } from '../lib/format.mjs';
import { inTurn } from '../lib/in-turn.mjs';
import { mean } from '../lib/statistics.mjs';
import { atLeast } from '../lib/targets.mjs';
import { openQueue, preload, TYPE } from './jobs.mjs';

const JOBS = 200_000;
const WORKERS = 64;
const STORAGES = { wal: 'log, fsync always', memory: 'memory' };

/** A second of work, after which the engine has compiled what is used most. */
const WARM_UP_SHARE = 1 / 4;

/** Child: jobs a second, once the process is warm. */
export async function measure({ storage, folder, jobs, workers }) {
  let rate;
  for (const count of [Math.round(jobs * WARM_UP_SHARE), jobs]) {
    const { folder: dataDir, remove } = freshFolder(folder);
    rate = await workOff({ kind: storage, dataDir, jobs: count, workers });
    remove();
  }
  return rate;
}

/** The time from the start of the pool until every job was handled and every end of one is durable. */
async function workOff({ kind, dataDir, jobs, workers }) {
  const { storage, registry, queue } = await openQueue({ storage: kind, dataDir, fsync: 'always' });
  let entered = 0;
  let last;
  const allEntered = new Promise((resolve) => (last = resolve));
  registry.register(TYPE, async () => {
    if (++entered === jobs) last();
  });
  await preload(queue, jobs);

  const pool = new WorkerPool(storage, registry, { workers });
  const start = performance.now();
  pool.start();
  await allEntered;
  await pool.stop();
  const seconds = (performance.now() - start) / 1000;

  const { counts } = await queue.stats();
  if (entered !== jobs || counts.ready + counts.active + counts.delayed + counts.dead > 0) {
    throw new Error(`${entered} of ${jobs} jobs were handled: ${JSON.stringify(counts)}`);
  }
  await storage.close();
  return jobs / seconds;
}

/** What the machinery around a job costs: jobs that do nothing. */
export async function noOpJobs({ work, repeats, quick, child, progress }) {
  const jobs = quick ? JOBS / 10 : JOBS;
  const once = async (storage) => Math.round(await child('no-op-jobs', { storage, folder: work, jobs, workers: WORKERS }));
  const runs = await inTurn(repeats, { wal: () => once('wal'), memory: () => once('memory') }, (what) => progress(`no-op jobs, ${what}`));
  return {
    title: 'No-op jobs',
    about:
      `${shown(jobs, 0)} jobs wait; one WorkerPool with ${WORKERS} workers runs an async handler that does nothing, until the end of every job ` +
      'is durable. A quarter as many are worked off before, in the same process, to warm it up.',
    columns: ['storage', 'runs', 'jobs/s'],
    rows: Object.entries(STORAGES).map(([kind, name]) => [name, repeats, withInterval(runs[kind], 0)]),
    targets: [
      atLeast('no-op jobs, fsync always', mean(runs.wal), 80_000, { unit: 'jobs/s', digits: 0 }),
      atLeast('no-op jobs, fsync always, the aim', mean(runs.wal), 100_000, { unit: 'jobs/s', digits: 0 }),
    ],
    runs,
  };
}
