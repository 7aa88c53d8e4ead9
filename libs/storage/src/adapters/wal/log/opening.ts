import { LogDamagedError, unavailable } from './damage.js';
import { LOCK_NAME, sortFolder, type FolderContents } from './file-names.js';
import type { OpenFolder } from './file-system.js';
import { FolderLock } from './folder-lock.js';
import type { LogOptions } from './log-options.js';
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
    folder = await fs.openFolder(dir);
    const contents = sortFolder(await fs.list(dir));
    const verdict = await new Recovery(fs, dir, replay).run(contents.segments);
    if (lock.lastBoot > verdict.boot) {
      const reason = `boot ${lock.lastBoot} wrote here, the newest segment is of boot ${verdict.boot}: the newest segments are missing`;
      throw new LogDamagedError(dir, LOCK_NAME, 0, `${reason} (to go on without them, delete ${LOCK_NAME})`);
    }
    await new Repair(fs, dir, folder, options.warn).run(verdict, contents);
    return { lock, folder, contents, verdict, release };
  } catch (error) {
    await release();
    throw unavailable(`Cannot open ${dir}`, error);
  }
}

/** No claim of this boot may ever have carried an epoch of an earlier one, whatever the clock did in between. */
export function nextEpochFloor(lastFloor: number, wallMs: number): number {
  return Math.max(lastFloor + EPOCHS_PER_BOOT, Math.floor(wallMs) * EPOCHS_PER_MS);
}

/**
 * File length of an ordinary segment: as wanted, or less where the disk is small. What the log holds already counts as its own, so that
 * reopening does not shrink it.
 */
export async function segmentFileBytes({ dir, fs, segmentBytes }: LogOptions, { verdict }: OpenedFolder): Promise<number> {
  const ownBytes = verdict.segments.reduce((sum, { usedBytes }) => sum + usedBytes, 0);
  const share = Math.floor(((await fs.freeBytes(dir)) + ownBytes) / SHARE_OF_SEGMENT);
  return HEADER_BYTES + Math.min(segmentBytes, Math.max(share, SMALLEST_LOWERED_BYTES));
}
