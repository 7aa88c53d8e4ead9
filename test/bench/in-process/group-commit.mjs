import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { BareLog } from '../lib/bare-log.mjs';
import { withInterval } from '../lib/format.mjs';
import { freshFolder } from '../lib/folders.mjs';
import { inTurn } from '../lib/in-turn.mjs';
import { mean } from '../lib/statistics.mjs';
import { atLeast } from '../lib/targets.mjs';
import { openQueue, payload, TYPE } from './jobs.mjs';

const CALLERS = 32;
const ROUND_MS = 1500;
const NAMES = { bare: 'the bare loop', storage: 'WalStorageAdapter.enqueue', queue: 'QueueService.enqueue' };

/** Child: each variant once per round, in turn, in one process; a first round warms up and is not counted. */
export async function measure({ folder, rounds, roundMs }) {
  const variants = { bare: bareLoop, storage: storageEnqueue, queue: queueEnqueue };
  const once = Object.fromEntries(Object.entries(variants).map(([name, open]) => [name, () => rate(open, folder, roundMs)]));
  await inTurn(1, once);
  return inTurn(rounds, once);
}

async function rate(open, parent, roundMs) {
  const { folder, remove } = freshFolder(parent);
  const { append, close } = await open(folder);
  let accepted = 0;
  const start = performance.now();
  const caller = async () => {
    while (performance.now() - start < roundMs) {
      await append(accepted);
      accepted++;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  const perSecond = (accepted * 1000) / (performance.now() - start);
  await close();
  remove();
  return Math.round(perSecond);
}

/** The record has what the log's record of a job has. */
function bareLoop(folder) {
  const log = new BareLog(join(folder, 'bare.log'));
  let serial = 0;
  const record = (n) => ({
    id: `0190a5d4-7e1b-7c3a-9f00-${String(serial++).padStart(12, '0')}`,
    queue: 'default',
    type: TYPE,
    payload: payload(n),
    priority: 5,
    created_at: Date.now(),
    max_attempts: 5,
  });
  return { append: (n) => log.append(`${JSON.stringify(record(n))}\n`), close: () => log.close() };
}

async function storageEnqueue(folder) {
  const { storage } = await openQueue({ storage: 'wal', dataDir: folder, fsync: 'always' });
  return {
    append: (n) => storage.enqueue([{ queue: 'default', type: TYPE, payload: JSON.stringify(payload(n)) }]),
    close: () => storage.close(),
  };
}

async function queueEnqueue(folder) {
  const { storage, queue } = await openQueue({ storage: 'wal', dataDir: folder, fsync: 'always' });
  return { append: (n) => queue.enqueue({ type: TYPE, payload: payload(n) }), close: () => storage.close() };
}

/** Durable enqueues a second, beside what a log of the same kind can at best reach on this disk. */
export async function groupCommit({ work, repeats, quick, child }) {
  const runs = await child('group-commit', { folder: work, rounds: repeats, roundMs: quick ? ROUND_MS / 5 : ROUND_MS });
  const ratios = (name) => runs[name].map((value, i) => value / runs.bare[i]);
  return {
    title: 'Durable enqueue',
    about:
      `${CALLERS} callers, each awaits its own enqueue before the next, one job a call, fsync always. The bare loop appends JSON records of the ` +
      'same size to a pre-written file (crc32, write, fdatasync, one flusher) and does nothing else. In turn, in one process, after a warm-up.',
    columns: ['', 'runs', 'durable/s', 'of the bare loop'],
    rows: Object.keys(NAMES).map((name) => [NAMES[name], repeats, withInterval(runs[name], 0), withInterval(ratios(name), 3)]),
    targets: [
      atLeast(`${NAMES.storage} / bare loop`, mean(ratios('storage')), 0.8),
      atLeast(`${NAMES.queue} / bare loop`, mean(ratios('queue')), 0.8),
    ],
    runs,
  };
}
