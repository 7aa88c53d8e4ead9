import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { median } from './statistics.mjs';

const SYNCS = 200;
/** What a disk needs at least, in ms: below it nothing is synced, and every comparison with a log that syncs is void. */
const FASTEST_SYNC_MS = 0.02;

/** What a reader needs to know about where the numbers come from. Nothing that tells whose machine it was. */
export function describeMachine(folder) {
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    platform: `${os.platform()} ${os.arch()}`,
    cores: os.availableParallelism(),
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    load_at_start: Number(os.loadavg()[0].toFixed(2)),
    fdatasync_median_ms: Number(median(syncTimes(folder)).toFixed(4)),
  };
}

/** What speaks against the numbers of this run; empty on a quiet machine with a real disk. */
export function doubts({ load_at_start, fdatasync_median_ms }) {
  const list = [];
  if (load_at_start > 0.5) list.push(`The machine was busy: a load of ${load_at_start} at the start. Absolute numbers mean little.`);
  if (fdatasync_median_ms < FASTEST_SYNC_MS)
    list.push(`The "disk" does not sync (${fdatasync_median_ms} ms). Name a folder on a disk in BENCH_DIR.`);
  return list;
}

/** Overwrites of a pre-written file, each with its fdatasync; ms. */
export function syncTimes(folder, count = SYNCS) {
  const file = path.join(folder, 'fdatasync.probe');
  const descriptor = fs.openSync(file, 'w');
  const record = Buffer.alloc(512, 1);
  try {
    fs.writeSync(descriptor, Buffer.alloc(record.length * count));
    fs.fsyncSync(descriptor);
    return Array.from({ length: count }, (_, i) => {
      const start = performance.now();
      fs.writeSync(descriptor, record, 0, record.length, i * record.length);
      fs.fdatasyncSync(descriptor);
      return performance.now() - start;
    });
  } finally {
    fs.closeSync(descriptor);
    fs.rmSync(file);
  }
}
