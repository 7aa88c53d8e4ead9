import { WorkerPool } from '@orchd/queue';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { BareLog } from '../lib/bare-log.mjs';
import { freshFolder } from '../lib/folders.mjs';
import { shown } from '../lib/format.mjs';
import { syncTimes } from '../lib/machine.mjs';
import { percentile } from '../lib/statistics.mjs';
import { atMost } from '../lib/targets.mjs';
import { openQueue, payload, TYPE } from './jobs.mjs';

const JOBS = 2000;
/** V8 compiles beside these for longer than one expects: on few cores its threads take the loop's turn for 2-4 ms, for 1 job in 50. */
const WARM_UP = 10_000;
const WORKERS = 16;
/** Between two jobs: long enough for the queue to be idle again. */
const PAUSE_MS = 2;

/** Child: ms from the call of `enqueue` to the first line of the handler, one job at a time; and of an append to the bare loop. */
export async function measure({ folder, jobs, warmUp }) {
  return { bare: await bareAppends(folder, jobs), handled: await enqueueToHandler(folder, jobs, warmUp) };
}

async function bareAppends(folder, appends) {
  const log = new BareLog(join(folder, 'bare.log'));
  const times = [];
  for (let n = 0; n < appends; n++) {
    const calledAt = performance.now();
    await log.append(`${JSON.stringify(payload(n))}\n`);
    times.push(performance.now() - calledAt);
    await setTimeout(PAUSE_MS);
  }
  log.close();
  return times;
}

async function enqueueToHandler(folder, jobs, warmUp) {
  const { storage, registry, queue } = await openQueue({ storage: 'wal', dataDir: join(folder, 'log'), fsync: 'always' });
  let entered;
  registry.register(TYPE, async () => entered(performance.now()));
  const pool = new WorkerPool(storage, registry, { workers: WORKERS });
  pool.start();
  const times = [];
  for (let n = -warmUp; n < jobs; n++) {
    const handled = new Promise((resolve) => (entered = resolve));
    const calledAt = performance.now();
    const accepted = queue.enqueue({ type: TYPE, payload: payload(n) });
    const enteredAt = await handled;
    if (n >= 0) times.push(enteredAt - calledAt);
    await accepted;
    await setTimeout(PAUSE_MS);
  }
  await pool.stop();
  await storage.close();
  return times;
}

/** How long a job waits for a queue that has nothing else to do. */
export async function latency({ work, quick, child, progress }) {
  progress('latency');
  const { folder, remove } = freshFolder(work);
  const jobs = quick ? JOBS / 10 : JOBS;
  const warmUp = quick ? WARM_UP / 50 : WARM_UP;
  const disk = syncTimes(work, jobs);
  const { bare, handled: times } = await child('latency', { folder, jobs, warmUp });
  remove();
  const row = (name, values) => [name, values.length, ...[50, 90, 99, 100].map((percent) => shown(percentile(values, percent), 3))];
  const [p50, p99] = [percentile(times, 50), percentile(times, 99)];
  return {
    title: 'Idle queue',
    about:
      `From the call of QueueService.enqueue to the entry of the handler, one job at a time, fsync always, ${WORKERS} workers waiting; ms; ` +
      `${shown(warmUp, 0)} jobs before, to warm up. In it a write and a sync of the job, and a write of its claim. Beside it what the bare loop needs for one ` +
      'append, with the same pauses, and what one write + fdatasync takes that blocks the thread instead of going through the thread pool.',
    columns: ['', 'samples', 'p50', 'p90', 'p99', 'max'],
    rows: [row('enqueue to handler', times), row('an append to the bare loop', bare), row('one write + fdatasync, blocking', disk)],
    targets: [
      atMost('enqueue to handler, p50', p50, 0.35, { unit: 'ms', digits: 3 }),
      atMost('enqueue to handler, p99', p99, 1, { unit: 'ms', digits: 3 }),
    ],
    runs: {
      p50,
      p99,
      bare_p50: percentile(bare, 50),
      bare_p99: percentile(bare, 99),
      disk_p50: percentile(disk, 50),
      disk_p99: percentile(disk, 99),
    },
  };
}
