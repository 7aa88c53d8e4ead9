import path from 'node:path';
import { LogDamagedError, unavailable } from './damage.js';
import { LOCK_NAME, sortFolder, spareName, type FolderContents } from './file-names.js';
import { sizeOf, type OpenFolder } from './file-system.js';
import { FolderLock } from './folder-lock.js';
import type { LogOptions } from './log-options.js';
import { refuseMigrated } from './migrated-marker.js';
import { Recovery, type Replay, type Verdict } from './recovery.js';
import { Repair } from './repair.js';
import { HEADER_BYTES } from './segment-header.js';

const EPOCHS_PER_BOOT = 2 ** 24;
const EPOCHS_PER_MS = 1024;
/** Four segments fit half of what the log may take up. */
const SHARE_OF_SEGMENT = 8;
const SMALLEST_LOWERED_BYTES = 64 * 1024;

/** A folder whose log is whole, read and locked; nothing can be appended yet. */
export interface OpenedFolder {
  lock: FolderLock;
  folder: OpenFolder;
  contents: FolderContents;
  verdict: Verdict;
  release(): Promise<void>;
}

/** Steps 1 to 5 of "Opening" in FORMAT.md. */
export async function openFolder(options: LogOptions, replay: Replay): Promise<OpenedFolder> {
  const { dir, fs } = options;
  await fs.makeFolder(dir).catch((error: unknown) => {
    throw unavailable(`Cannot make ${dir}`, error);
  });
  const lock = await FolderLock.take(fs, dir);
  let folder: OpenFolder | undefined;
  const release = async () => {
    await folder?.close();
    await lock.release();
  };
  try {
    if (!options.force) await refuseMigrated(fs, dir);
    folder = await fs.openFolder(dir);
    const contents = sortFolder(await fs.list(dir));
    const verdict = await new Recovery(fs, dir, replay).run(contents.segments);
    refuseMissingNewest(dir, lock.lastBoot, verdict);
    await new Repair(fs, dir, folder, options.warn).run(verdict, contents);
    return { lock, folder, contents, verdict, release };
  } catch (error) {
    await release();
    throw unavailable(`Cannot open ${dir}`, error);
  }
}

/** LOCK is written when a boot's first segment is on disk, so a boot that only LOCK knows has lost its segments. */
export function refuseMissingNewest(dir: string, lastBoot: number, verdict: Verdict): void {
  if (lastBoot <= verdict.boot) return;
  const reason = `boot ${lastBoot} wrote here, the newest segment is of boot ${verdict.boot}: the newest segments are missing`;
  throw new LogDamagedError(dir, LOCK_NAME, 0, `${reason} (to go on without them, delete ${LOCK_NAME})`);
}

/** No claim of this boot may ever have carried an epoch of an earlier one, whatever the clock did in between. */
export function nextEpochFloor(lastFloor: number, wallMs: number): number {
  return Math.max(lastFloor + EPOCHS_PER_BOOT, Math.floor(wallMs) * EPOCHS_PER_MS);
}

/**
 * File length of an ordinary segment: as wanted, or less where the disk is small. What the log holds already counts as its own, so that
 * reopening does not shrink it.
 */
export async function segmentFileBytes(options: LogOptions, { verdict, contents }: OpenedFolder): Promise<number> {
  const { dir, fs, segmentBytes } = options;
  let usable = await fs.freeBytes(dir);
  for (const { usedBytes } of verdict.segments) usable += usedBytes;
  for (const spare of contents.spares) usable += await sizeOf(fs, path.join(dir, spareName(spare)));
  return HEADER_BYTES + Math.min(segmentBytes, Math.max(Math.floor(usable / SHARE_OF_SEGMENT), SMALLEST_LOWERED_BYTES));
}
