import { execFileSync } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { systemClock } from '../../../libs/storage/dist/contract/clock.js';
import { jobWith } from '../../../libs/queue/dist/job/job.js';
import { Delivery } from '../../../libs/queue/dist/worker-pool/delivery.js';
import { IsolateRunner } from '../../../libs/queue/dist/worker-pool/isolate/isolate.runner.js';
import { Thread } from '../../../libs/queue/dist/worker-pool/isolate/thread.js';
import { median } from '../lib/statistics.mjs';
import { moduleFile, poolOf } from './pool.mjs';

const LOOK_MS = 20;

/** @returns jobs a second, jobs taken for hung, and how often a job was begun */
export async function fall({ jobs, workMs, beats, threads = availableParallelism() }) {
  const bench = await poolOf(moduleFile('spin'), { threads, heartbeatTimeoutMs: 200 });
  const spin = (ms) => ({ payload: JSON.stringify({ workMs: ms, sliceMs: workMs, beats }), maxRequeues: 1000 });
  const all = async (count, ms) => {
    const { done } = await bench.storage.counts();
    await bench.enqueue(count, spin(ms));
    while ((await bench.storage.counts()).done < done + count) await setTimeout(LOOK_MS);
  };
  await all(threads, 1);
  const start = performance.now();
  await all(jobs, workMs);
  const seconds = (performance.now() - start) / 1000;
  const { requeued } = bench.pool.snapshot();
  await bench.close();
  return { jobs_s: jobs / seconds, requeued, starts_per_job: (jobs + requeued) / jobs };
}

/** @returns for each hang, ms from its last beat to its requeue, and from there to the end of its thread */
export async function hang({ hangs, hbTimeoutMs }) {
  const alive = countThreads();
  const bench = await poolOf(moduleFile('hang'), { workers: 1, heartbeatTimeoutMs: hbTimeoutMs });
  const foundMs = [];
  const goneMs = [];
  const requeue = bench.storage.requeue.bind(bench.storage);
  let found = 0;
  bench.storage.requeue = (...args) => {
    found = sharedMs();
    return requeue(...args);
  };
  for (let i = 0; i < hangs; i++) {
    const [{ id }] = await bench.enqueue(1, { maxRequeues: 0 });
    const gone = alive.next();
    await gone;
    goneMs.push(sharedMs() - found);
    const { log } = await bench.storage.get(id);
    foundMs.push(found - Number(log[0]));
  }
  await bench.close();
  return { found_ms: foundMs, gone_ms: goneMs, threads_left: alive.now };
}

/** @returns the median of a delivery's way to a thread and back, and of a bare message's; us */
export async function hop({ trips }) {
  onOneCore();
  const module = moduleFile('echo');
  const handler = { type: 'job', target: module, runIn: 'thread', options: {} };
  const log = { debug() {}, warn: console.error, error: console.error };
  const create = (...args) => new Thread(...args);
  const runner = new IsolateRunner({ limit: 1, heartbeatTimeoutMs: 30_000, clock: systemClock, log, create, roomier() {} });
  const bare = new Worker(new URL('./bare-worker.mjs', import.meta.url));
  let answered = () => {};
  bare.on('message', () => answered());
  const [record] = await oneRecord();
  const variants = {
    hop: () => runner.run(new Delivery(record, handler, 30_000, Infinity, systemClock)),
    bare() {
      bare.postMessage({ job: jobWith(record, null), payload: record.payload });
      return new Promise((resolve) => (answered = resolve));
    },
  };
  const times = { hop: [], bare: [] };
  const hundred = async (name, keep) => {
    for (let i = 0; i < 100; i++) {
      const start = performance.now();
      await variants[name]();
      if (keep) times[name].push((performance.now() - start) * 1000);
    }
  };
  for (let i = 0; i < 20; i++) for (const name of Object.keys(variants)) await hundred(name, false);
  for (let i = 0; i < trips / 100; i++) for (const name of Object.keys(variants)) await hundred(name, true);
  await Promise.all([runner.close(), bare.terminate()]);
  return { hop_us: median(times.hop), bare_us: median(times.bare) };
}

/** Across cores the waking of an idle one is most of a round trip, and which of the two threads share a core is the system's whim. */
function onOneCore() {
  try {
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', '0', String(process.pid)]);
  } catch (error) {
    console.error(`without taskset the figures depend on where the threads run: ${error.message}`);
  }
}

/** @returns memory after a tenth and at the end, and the most threads alive at a time */
export async function storm({ hangs, hbTimeoutMs }) {
  const alive = countThreads();
  const bench = await poolOf(moduleFile('hang'), { heartbeatTimeoutMs: hbTimeoutMs, keepDeadMs: 1000 });
  const start = performance.now();
  const until = async (count) => {
    while (bench.pool.snapshot().requeued < count) await setTimeout(LOOK_MS);
  };
  await bench.enqueue(hangs, { maxRequeues: 0 });
  await until(Math.ceil(hangs / 10));
  const begin = rssMib();
  await until(hangs);
  const end = rssMib();
  const seconds = (performance.now() - start) / 1000;
  const { requeued } = bench.pool.snapshot();
  await bench.close();
  return { rss_begin_mib: begin, rss_end_mib: end, most_threads: alive.most, threads: availableParallelism(), requeued, seconds };
}

/** All threads that this process starts from now on. */
function countThreads() {
  const count = { now: 0, most: 0, next: () => new Promise((resolve) => (ended = resolve)) };
  let ended = () => {};
  subscribe('worker_threads', ({ worker }) => {
    count.most = Math.max(count.most, ++count.now);
    worker.once('exit', () => {
      count.now--;
      ended();
    });
  });
  return count;
}

async function oneRecord() {
  const bench = await poolOf(moduleFile('echo'));
  await bench.pool.stop();
  await bench.enqueue(1, { payload: JSON.stringify({ to: 'ada@example.org' }) });
  return bench.storage.claim({ queue: 'default', limit: 1, owner: 'bench', leaseMs: 60_000, waitMs: 0 });
}

function rssMib() {
  globalThis.gc?.();
  return process.memoryUsage.rss() / 2 ** 20;
}

/** The monotonic clock that all threads share. */
function sharedMs() {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
