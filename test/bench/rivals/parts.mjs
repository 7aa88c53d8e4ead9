import { setTimeout } from 'node:timers/promises';
import { freshFolder } from '../lib/folders.mjs';
import { shown } from '../lib/format.mjs';
import { inTurn } from '../lib/in-turn.mjs';
import { median } from '../lib/statistics.mjs';
import { atLeast, atMost } from '../lib/targets.mjs';
import { MODES, startRedis } from './redis-server.mjs';

const CALLERS = 32;
const NAMES = { orchd: 'orchd', storage: 'orchd, storage alone', bullmq: 'BullMQ' };
/** Of the issue: what orchd must be at least, times BullMQ; and what it aims at. */
const ENQUEUE = { least: 2, aim: 3 };
const NO_OP = { 64: { none: 2.2, always: 1.25 }, 256: { none: 2.2, always: 2 } };
const MEMORY = { most: 0.85, aim: 0.6 };
const IDLE_PER_S = 20;
/** What either of them sends while it waits. Redis counts what scripts call under the same heading: none of these is called by one. */
const SENT = /cmdstat_(?:evalsha|eval|xread|scan|exists|ping|bzpopmin|client\|\w+):calls=(\d+)/g;

export async function enqueueRates(run) {
  const variant = (side) => (redis) => run.child('enqueue', { side, port: redis.port, callers: CALLERS, runMs: run.quick ? 500 : 3000 });
  const sides = { storage: variant('storage'), orchd: variant('orchd'), bullmq: variant('bullmq') };
  const runs = await inEachMode(run, 'enqueue', sides);
  return {
    title: `Enqueue, ${CALLERS} callers`,
    about:
      'Each caller waits for the answer to its job before it sends the next; payloads of 100 bytes. Jobs a second, median of the runs.',
    columns: ['Redis', 'storage alone', 'QueueService', 'BullMQ'],
    rows: rowsOf(runs, ['storage', 'orchd', 'bullmq']),
    targets: Object.entries(runs).flatMap(([mode, results]) => [
      atLeast(`storage alone, times BullMQ, ${MODES[mode].title}`, ratio(results, 'storage'), ENQUEUE.least),
      atLeast(`the same, the aim`, ratio(results, 'storage'), ENQUEUE.aim),
      atLeast(`QueueService, times BullMQ, ${MODES[mode].title}`, ratio(results, 'orchd'), ENQUEUE.least),
    ]),
    runs,
  };
}

export async function noOpRates(run) {
  const jobs = run.quick ? 5000 : 50_000;
  const runs = {};
  for (const inFlight of Object.keys(NO_OP).map(Number)) {
    const variant = (side) => (redis) => run.child('work', { side, port: redis.port, jobs, inFlight });
    runs[inFlight] = await inEachMode(run, `no-op, ${inFlight} in flight`, {
      storage: variant('storage'),
      orchd: variant('orchd'),
      bullmq: variant('bullmq'),
    });
  }
  return {
    title: 'No-op jobs',
    about:
      `${shown(jobs, 0)} jobs wait; one process works them off with a handler that does nothing, until the end of each is acknowledged. ` +
      'Storage alone: a loop of claim and ack; WorkerPool and BullMQ: Worker, with the same concurrency. Jobs a second, median of the runs.',
    columns: ['in flight, Redis', 'storage alone', 'WorkerPool', 'BullMQ'],
    rows: Object.entries(runs).flatMap(([inFlight, byMode]) =>
      rowsOf(byMode, ['storage', 'orchd', 'bullmq']).map(([mode, ...rates]) => [`${inFlight}, ${mode}`, ...rates]),
    ),
    targets: Object.entries(runs).flatMap(([inFlight, byMode]) =>
      Object.entries(byMode).flatMap(([mode, results]) => [
        atLeast(
          `storage alone, ${inFlight} in flight, times BullMQ, ${MODES[mode].title}`,
          ratio(results, 'storage'),
          NO_OP[inFlight][mode],
        ),
        atLeast(`WorkerPool, ${inFlight} in flight, times BullMQ, ${MODES[mode].title}`, ratio(results, 'orchd'), NO_OP[inFlight][mode]),
      ]),
    ),
    runs,
  };
}

export async function memoryPerJob(run) {
  const jobs = run.quick ? 10_000 : 100_000;
  const bytes = (side) => async (redis) => {
    const before = await usedMemory(redis);
    await run.child('fill', { side, port: redis.port, jobs });
    return ((await usedMemory(redis)) - before) / jobs;
  };
  const { none } = await inEachMode(run, 'memory', { storage: bytes('storage'), orchd: bytes('orchd'), bullmq: bytes('bullmq') }, ['none']);
  const times = (side) => median(none[side]) / median(none.bullmq);
  return {
    title: 'Memory of a waiting job',
    about:
      `used_memory of Redis before and after ${shown(jobs, 0)} jobs with a payload of 100 bytes. QueueService keeps a fingerprint of each ` +
      'request too, to know a repeated one.',
    columns: ['', 'bytes per job'],
    rows: Object.entries(none).map(([side, values]) => [NAMES[side], shown(median(values), 0)]),
    targets: [
      atMost('storage alone, times BullMQ', times('storage'), MEMORY.most),
      atMost('the same, the aim', times('storage'), MEMORY.aim),
      atMost('QueueService, times BullMQ', times('orchd'), MEMORY.most),
    ],
    runs: none,
  };
}

export async function idleCommands(run) {
  const runMs = run.quick ? 4000 : 10_000;
  const settleMs = 2000;
  const perSecond = (side) => async (redis) => {
    const measured = run.child('idle', { side, port: redis.port, inFlight: 16, runMs: runMs + 2 * settleMs });
    await setTimeout(settleMs);
    await redis.redis.config('RESETSTAT');
    await setTimeout(runMs);
    const sent = await commandsSent(redis);
    await measured;
    return (sent * 1000) / runMs;
  };
  const { none } = await inEachMode(run, 'idle', { orchd: perSecond('orchd'), bullmq: perSecond('bullmq') }, ['none']);
  return {
    title: 'Commands of an idle process',
    about: '16 workers wait on an empty queue: commands a second that the process sends.',
    columns: ['', 'commands/s'],
    rows: Object.entries(none).map(([side, values]) => [NAMES[side], shown(median(values), 1)]),
    targets: [atMost('orchd', median(none.orchd), IDLE_PER_S, { unit: 'commands/s', digits: 1 })],
    runs: none,
  };
}

/** One Redis for each mode, emptied before each measurement; the rivals take turns on it. */
async function inEachMode({ work, repeats, progress }, what, sides, modes = Object.keys(MODES)) {
  const runs = {};
  for (const mode of modes) {
    const { folder, remove } = freshFolder(work);
    const redis = await startRedis(mode, folder);
    try {
      const variants = Object.entries(sides).map(([side, measure]) => [side, () => redis.empty().then(() => measure(redis))]);
      runs[mode] = await inTurn(repeats, Object.fromEntries(variants), (turn) => progress(`${what}, ${MODES[mode].title}: ${turn}`));
    } finally {
      await redis.stop();
      remove();
    }
  }
  return runs;
}

function rowsOf(runs, sides) {
  return Object.entries(runs).map(([mode, results]) => [MODES[mode].title, ...sides.map((side) => shown(median(results[side]), 0))]);
}

/** The median of the ratios of the rounds: what disturbed a round disturbed both. */
function ratio(results, side) {
  return median(results[side].map((value, round) => value / results.bullmq[round]));
}

async function usedMemory({ redis }) {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))[1]);
}

async function commandsSent({ redis }) {
  const stats = await redis.info('commandstats');
  return [...stats.matchAll(SENT)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}
