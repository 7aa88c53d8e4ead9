import { WorkerPool } from '@orchd/queue';
import { performance } from 'node:perf_hooks';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { LogCleaner } from '../../../libs/storage/dist/adapters/wal/log-cleaner.js';
import { openQueue, payload, preload, TYPE } from '../in-process/jobs.mjs';
import { freshFolder } from '../lib/folders.mjs';
import { shown, withInterval } from '../lib/format.mjs';
import { inTurn } from '../lib/in-turn.mjs';
import { mean } from '../lib/statistics.mjs';
import { atLeast, atMost, exactly } from '../lib/targets.mjs';
import { LIVE_MULTIPLE, SEGMENTS_BESIDE, watchDisk } from './disk-watch.mjs';

const MB = 2 ** 20;
const SEGMENT_BYTES = 16 * MB;
const QUICK_SEGMENT_BYTES = MB;
const WORKERS = 64;
const KEPT = 5000;
const STANDING = 100_000;
const PRUNE_EVERY_MS = 500;
const ANCIENT_MS = 100 * 86_400_000;
/** The cleaner may cost a tenth. */
const LEAST_RATIO = 0.9;

/**
 * Child: jobs come, are handled and are forgotten, for so long, beside one ancient delayed job and others that wait in a queue that nobody
 * serves. `cleaner: false` leaves the log to grow.
 */
export async function measure({ folder, ms, segmentBytes, standing, cleaner }) {
  if (!cleaner) LogCleaner.prototype.clean = () => undefined;
  const { storage, registry, queue } = await openQueue({ storage: 'wal', dataDir: folder, fsync: 'always', walSegmentBytes: segmentBytes });
  const ancient = await queue.enqueue({ type: TYPE, payload: payload(0), delayMs: ANCIENT_MS });
  await preload(queue, standing, 'standing');
  let handled = 0;
  let failed;
  const failure = new Promise((_, reject) => (failed = reject));
  const refill = Array.from({ length: WORKERS }, (_, n) => ({ type: TYPE, payload: payload(n) }));
  registry.register(TYPE, async () => {
    if (++handled % WORKERS === 0) queue.enqueueMany(refill).catch(failed);
  });
  await preload(queue, 2 * WORKERS);
  const pool = new WorkerPool(storage, registry, { workers: WORKERS });
  const end = new AbortController();
  const disk = watchDisk(storage, folder, segmentBytes);
  const pruning = prune(storage, end.signal);
  const start = performance.now();
  pool.start();
  await Promise.race([setTimeout(ms), failure, pruning]);
  const seconds = (performance.now() - start) / 1000;
  const perSecond = handled / seconds;
  pool.drain();
  await pool.stop();
  end.abort();
  await pruning;
  const seen = disk.stop();
  const still = await queue.get(ancient.id);
  await storage.close();
  return { per_second: perSecond, handled, ancient: still.state, disk: seen };
}

async function prune(storage, signal) {
  const policy = { keepFinished: KEPT, keepFinishedMs: 0, keepDeadMs: 0 };
  while (!signal.aborted) {
    while ((await storage.prune(policy)) === 1000) await setImmediate();
    await setTimeout(PRUNE_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

const FULL_MS = 600_000;
const QUICK_MS = 10_000;

/** Whether the disk stays in proportion to what lives, for as long as one likes. */
export async function growth({ work, quick, child, progress }) {
  const segmentBytes = quick ? QUICK_SEGMENT_BYTES : SEGMENT_BYTES;
  const ms = quick ? QUICK_MS : FULL_MS;
  const runs = {};
  for (const standing of [0, quick ? STANDING / 10 : STANDING]) {
    progress(`growth, ${standing} standing`);
    const { folder, remove } = freshFolder(work);
    try {
      runs[standing] = await child('churn', { folder, ms: ms / 2, segmentBytes, standing, cleaner: true });
    } finally {
      remove();
    }
  }
  const entries = Object.entries(runs);
  return {
    title: 'Growth',
    about:
      `No-op jobs, ${WORKERS} workers, fsync always, as many enqueued as handled, all but the last ${shown(KEPT, 0)} forgotten; ${shown(ms / 2000, 0)} s ` +
      `each, segments of ${shown(segmentBytes / MB, 0)} MB, beside one job that is delayed by 100 days and others that wait. Ten looks a second at all ` +
      'files of the folder, the two spare segments too, against the most that lived in the last ten seconds.',
    columns: ['waiting beside', 'jobs/s', 'jobs', 'largest folder MB', 'live MB', 'segments above 2.5 x live'],
    rows: entries.map(([standing, { per_second: rate, handled, disk }]) => [
      shown(Number(standing), 0),
      shown(rate, 0),
      shown(handled, 0),
      shown(disk.max_bytes / MB, 1),
      shown(disk.max_live_bytes / MB, 1),
      shown(disk.max_segments_above, 2),
    ]),
    targets: entries.flatMap(([standing, { ancient, disk }]) => [
      atMost(`${shown(Number(standing), 0)} waiting: folder - ${LIVE_MULTIPLE} x live`, disk.max_segments_above, SEGMENTS_BESIDE, {
        unit: 'segments',
      }),
      exactly(`${shown(Number(standing), 0)} waiting: the ancient job still delayed`, ancient === 'delayed' ? 1 : 0, 1),
    ]),
    runs,
  };
}

const COST_MS = 20_000;

/** What the cleaner takes from the throughput. */
export async function cost({ work, repeats, quick, child, progress }) {
  const segmentBytes = quick ? QUICK_SEGMENT_BYTES : SEGMENT_BYTES;
  const once = async (standing, cleaner) => {
    const { folder, remove } = freshFolder(work);
    try {
      const { per_second: rate } = await child('churn', { folder, ms: quick ? COST_MS / 4 : COST_MS, segmentBytes, standing, cleaner });
      return Math.round(rate);
    } finally {
      remove();
    }
  };
  const runs = {};
  for (const standing of [0, quick ? STANDING / 10 : STANDING]) {
    const variants = { with: () => once(standing, true), without: () => once(standing, false) };
    runs[standing] = await inTurn(repeats, variants, (what) => progress(`${standing} waiting beside, ${what} the cleaner`));
  }
  const entries = Object.entries(runs).map(([standing, found]) => [shown(Number(standing), 0), found]);
  return {
    title: 'The cleaner',
    about:
      'The same churn with the cleaner and without it (the log then only grows), in turn, a fresh process for each. Jobs that wait beside it are ' +
      'the worst case: they are copied again for every as many bytes of finished ones.',
    columns: ['waiting beside', 'runs', 'jobs/s with the cleaner', 'jobs/s without'],
    rows: entries.map(([standing, found]) => [standing, repeats, withInterval(found.with, 0), withInterval(found.without, 0)]),
    targets: entries.map(([standing, found]) => {
      const ratio = mean(found.with.map((value, i) => value / found.without[i]));
      return atLeast(`${standing} waiting beside: jobs/s with / without the cleaner`, ratio, LEAST_RATIO);
    }),
    runs,
  };
}
