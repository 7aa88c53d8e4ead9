import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openQueue, preload } from '../in-process/jobs.mjs';
import { freshFolder } from '../lib/folders.mjs';
import { shown } from '../lib/format.mjs';
import { percentile } from '../lib/statistics.mjs';
import { atMost } from '../lib/targets.mjs';

const JOBS = 1_000_000;
const TIMES = 20;
const LIMIT_MS = 20;

const nextTurn = promisify(setImmediate);

/** What is asked for; the first three look at every job there is. */
const CALLS = {
  'a state that no job has': ({ queue }) => queue.list({ state: 'dead' }),
  'a type that no job has': ({ queue }) => queue.list({ type: 'none', limit: 1000 }),
  'a queue that no job has': ({ queue }) => queue.list({ queue: 'none' }),
  'a page of 1,000': ({ queue }) => queue.list({ limit: 1000 }),
  stats: ({ queue }) => queue.stats(),
};

/** Child: the longest time between two turns of the event loop, ms, while each call is made so many times. */
export async function measure({ folder, jobs, times }) {
  const { storage, queue } = await openQueue({ storage: 'wal', dataDir: folder, fsync: 'always' });
  await preload(queue, jobs);
  const calls = { nothing: () => setTimeout(50), ...CALLS };
  const result = {};
  for (const [name, call] of Object.entries(calls)) {
    const loop = watchLoop();
    const start = performance.now();
    for (let n = 0; n < times; n++) {
      await call({ queue });
      await nextTurn(); // a call that never waits would else be one step with the next
    }
    const took = (performance.now() - start) / times;
    result[name] = { took, ...(await loop.stop()) };
  }
  await storage.close();
  return result;
}

function watchLoop() {
  const steps = [];
  let last = performance.now();
  let next;
  const turn = () => {
    const now = performance.now();
    steps.push(now - last);
    last = now;
    next = setImmediate(turn);
  };
  next = setImmediate(turn);
  return {
    async stop() {
      await nextTurn(); // the call may have ended within a step
      clearImmediate(next);
      return { longest: steps.reduce((longest, step) => Math.max(longest, step), 0), p99: steps.length > 0 ? percentile(steps, 99) : 0 };
    },
  };
}

/** Whether a look at a million jobs holds up those who work. */
export async function steps({ work, quick, child, progress }) {
  progress('steps of the event loop');
  const { folder, remove } = freshFolder(work);
  const jobs = quick ? JOBS / 10 : JOBS;
  const run = await child('steps', { folder, jobs, times: TIMES });
  remove();
  return {
    title: 'Listing and stats',
    about:
      `${shown(jobs, 0)} jobs wait. Each call ${TIMES} times; ms. A step is the time between two turns of the event loop, in which nothing else can be ` +
      'done; "nothing" is what the machine itself adds, collections of the heap too.',
    columns: ['', 'a call takes', 'steps, p99', 'longest step'],
    rows: Object.entries(run).map(([name, { took, p99, longest }]) => [name, shown(took, 1), shown(p99, 2), shown(longest, 1)]),
    targets: Object.keys(CALLS).map((name) => atMost(`${name}, longest step`, run[name].longest, LIMIT_MS, { unit: 'ms', digits: 1 })),
    runs: run,
  };
}
