import { WorkerPool } from '@orchd/queue';
import { performance } from 'node:perf_hooks';
import { freshFolder } from '../lib/folders.mjs';
import { shown, withInterval } from '../lib/format.mjs';
import { inTurn } from '../lib/in-turn.mjs';
import { mean } from '../lib/statistics.mjs';
import { atLeast } from '../lib/targets.mjs';
import { openQueue, payload, preload, TYPE } from './jobs.mjs';

const SMALL = 1000;
const LARGE = 1_000_000;
const HANDLED = 150_000;
const WARM_UP = 30_000;
const WORKERS = 64;
/** A large backlog takes long to make. */
const REPEATS_AT_MOST = 3;

/** Child: jobs/s while the backlog keeps its size: for every 64 jobs that are handled, 64 new ones are enqueued. */
export async function measure({ folder, backlog, handled, warmUp, workers }) {
  const { storage, registry, queue } = await openQueue({ storage: 'wal', dataDir: folder, fsync: 'always' });
  let entered = 0;
  let startedAt = 0;
  let last;
  const allEntered = new Promise((resolve, reject) => (last = { resolve, reject }));
  const refill = Array.from({ length: workers }, (_, n) => ({ type: TYPE, payload: payload(n) }));
  registry.register(TYPE, async () => {
    entered++;
    if (entered % workers === 0) queue.enqueueMany(refill).catch(last.reject);
    if (entered === warmUp) startedAt = performance.now();
    if (entered === warmUp + handled) last.resolve(performance.now());
  });
  await preload(queue, backlog);
  const pool = new WorkerPool(storage, registry, { workers });
  pool.start();
  const endedAt = await allEntered;
  pool.drain();
  await pool.stop();
  const { counts } = await queue.stats();
  if (counts.ready < backlog / 2) throw new Error(`the backlog did not keep its size: ${JSON.stringify(counts)}`);
  await storage.close();
  return (handled * 1000) / (endedAt - startedAt);
}

/** Whether a large backlog slows down those who work on it. */
export async function backlog({ work, repeats, quick, child, progress }) {
  const rounds = Math.min(repeats, REPEATS_AT_MOST);
  const scale = quick ? 10 : 1;
  const once = async (size) => {
    const { folder, remove } = freshFolder(work);
    try {
      return Math.round(
        await child('backlog', { folder, backlog: size, handled: HANDLED / scale, warmUp: WARM_UP / scale, workers: WORKERS }),
      );
    } finally {
      remove();
    }
  };
  const sizes = { small: SMALL, large: LARGE / scale };
  const runs = await inTurn(rounds, { small: () => once(sizes.small), large: () => once(sizes.large) }, (what) =>
    progress(`backlog, ${what}`),
  );
  const ratios = runs.large.map((value, i) => value / runs.small[i]);
  return {
    title: 'Backlog',
    about:
      `No-op jobs, ${WORKERS} workers, fsync always, while the number of waiting jobs stays the same: as many are enqueued as are handled. ` +
      `${shown(HANDLED / scale, 0)} jobs after ${shown(WARM_UP / scale, 0)} to warm up; at most ${REPEATS_AT_MOST} runs, in turn, a fresh process for each.`,
    columns: ['waiting jobs', 'runs', 'jobs/s'],
    rows: ['small', 'large'].map((name) => [shown(sizes[name], 0), rounds, withInterval(runs[name], 0)]),
    targets: [atLeast(`jobs/s with ${shown(sizes.large, 0)} waiting / with ${shown(sizes.small, 0)}`, mean(ratios), 0.85)],
    runs,
  };
}
