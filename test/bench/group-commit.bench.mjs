// Durable appends per second: the log with `fsync always`, beside the bare loop that it can at best be as fast as (open, write, fdatasync,
// crc32, one flusher, nothing else). Both in one run, alternating, on the same disk. npm run bench -- group-commit
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { crc32 } from 'node:zlib';
import { nodeFileSystem } from '../../libs/storage/dist/adapters/wal/log/node-file-system.js';
import { WriteAheadLog } from '../../libs/storage/dist/adapters/wal/log/write-ahead-log.js';
import { systemClock } from '../../libs/storage/dist/contract/clock.js';

const CALLERS = [1, 32, 256];
const RUN_MS = Number(process.env.BENCH_RUN_MS ?? 2000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const SEGMENT_BYTES = 16 * 2 ** 20;

let serial = 0;
/** About 250 bytes, as an enqueue has. */
function record() {
  const job = {
    v: 1,
    t: 'enqueue',
    id: `0190a5d4-7e1b-7c3a-9f00-${String(serial++).padStart(12, '0')}`,
    queue: 'default',
    type: 'simulated',
  };
  return JSON.stringify({ ...job, priority: 5, at: Date.now(), payload: { work_ms: 20, fail_prob: 0.2, note: 'x'.repeat(70) } }) + '\n';
}

async function openLog(dir) {
  const log = await WriteAheadLog.open(
    {
      dir,
      fs: nodeFileSystem,
      clock: systemClock,
      fsync: 'always',
      segmentBytes: SEGMENT_BYTES,
      preamble: () => '',
      onStateChange: () => {},
      warn: console.warn,
    },
    { records: () => {} },
  );
  return { append: (text) => log.append(text, 'enqueue').durable(), close: () => log.close() };
}

/** The bare loop: one growing file, one flusher, one promise per batch. */
function openBare(dir) {
  fs.mkdirSync(dir);
  const descriptor = fs.openSync(path.join(dir, 'bare.log'), 'w');
  const buffer = Buffer.allocUnsafe(2 ** 22);
  let position = 0;
  let busy = false;
  let text = '';
  let waiting;
  const flush = () => {
    const { resolve, reject } = waiting;
    waiting = undefined;
    const length = 8 + buffer.write(text, 8);
    text = '';
    buffer.writeUInt32LE(length, 0);
    buffer.writeUInt32LE(crc32(buffer.subarray(8, length)), 4);
    fs.write(descriptor, buffer, 0, length, position, (error, count) => {
      if (error || count !== length) return reject(error);
      position += length;
      fs.fdatasync(descriptor, (failed) => {
        if (failed) return reject(failed);
        resolve();
        busy = false;
        setImmediate(start);
      });
    });
  };
  const start = () => {
    if (busy || !waiting) return;
    busy = true;
    flush();
  };
  return {
    append(record) {
      text += record;
      if (!waiting) {
        waiting = {};
        waiting.promise = new Promise((resolve, reject) => Object.assign(waiting, { resolve, reject }));
        if (!busy) setImmediate(start);
      }
      return waiting.promise;
    },
    close: () => fs.closeSync(descriptor),
  };
}

async function rate(open, callers) {
  const dir = fs.mkdtempSync(path.join(process.env.BENCH_DIR ?? os.tmpdir(), 'orchd-group-commit-'));
  const store = await open(path.join(dir, 'log'));
  let done = 0;
  const start = performance.now();
  const caller = async () => {
    while (performance.now() - start < RUN_MS) {
      await store.append(record());
      done++;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const seconds = (performance.now() - start) / 1000;
  await store.close();
  fs.rmSync(dir, { recursive: true });
  return Math.round(done / seconds);
}

const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

for (const callers of CALLERS) {
  const bare = [];
  const log = [];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await rate(openBare, callers));
    log.push(await rate(openLog, callers));
  }
  console.log(JSON.stringify({ callers, bare_per_s: median(bare), log_per_s: median(log), log_all: log, bare_all: bare }));
}
