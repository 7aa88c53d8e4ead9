import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folder of one run; all that is measured on a disk is measured below it. `BENCH_DIR` says on which disk. It is gone with the process. */
export function workFolder() {
  const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'orchd-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A new, empty folder in it, and the way to be rid of it. */
export function freshFolder(parent) {
  const folder = mkdtempSync(join(parent, 'data-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
