import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { hasCode, InvalidArgumentError, systemClock } from '../../contract/index.js';
import { LogDamagedError, unavailable } from './log/damage.js';
import { segmentName, sortFolder } from './log/file-names.js';
import { errorCode } from './log/file-system.js';
import { lastBootOf } from './log/folder-lock.js';
import { findingsOf, verifyLog, type Finding } from './log/inspection.js';
import { nodeFileSystem } from './log/node-file-system.js';
import { salvageLog, type Loss, type SalvageReport } from './log/salvage.js';
import { readMarker as read, writeMarker as write, type MigratedMarker } from './log/migrated-marker.js';
import { RecordDecoder } from './record-codec.js';
import { DEFAULT_SEGMENT_BYTES } from './wal.adapter.js';
import { lockWritersOut } from './writer-lockout.js';

/*
 * A log as it lies in its folder, for people who look at it while no orchd has it. Nothing here changes that folder. Each of the three
 * rejects with `invalid_argument` (the folder is not there, or holds no log), `storage_locked` (an orchd has it), `storage_unavailable`
 * (it cannot be read).
 */

export type { Loss };
export type WholeBatch = Extract<Finding, { kind: 'batch' }>;
export type BadPlace = Extract<Finding, { kind: 'bad' }>;

interface Contents {
  readonly segments: number;
  readonly batches: number;
  readonly records: number;
}

/** What the next opening would say, by the damage table of FORMAT.md. */
export type LogVerdict =
  | ({ readonly verdict: 'whole' } & Contents)
  /** `bytes` from `offset` on would be put aside; so would `batchesDropped` whole batches among them, none of them acknowledged. */
  | ({
      readonly verdict: 'torn';
      readonly file: string;
      readonly offset: number;
      readonly bytes: number;
      readonly batchesDropped: number;
    } & Contents)
  | { readonly verdict: 'damaged'; readonly file: string; readonly offset: number; readonly reason: string };

export async function verify(dir: string): Promise<LogVerdict> {
  const release = await begin(dir);
  try {
    return await verdictOf(dir);
  } finally {
    await release();
  }
}

/** Every batch in the folder and every place that holds none, in log order and past any damage; one segment at a time in memory. */
export async function* dump(dir: string): AsyncGenerator<WholeBatch | BadPlace> {
  const release = await begin(dir);
  try {
    yield* findingsOf(nodeFileSystem, dir);
  } finally {
    await release();
  }
}

interface Salvaged extends SalvageReport {
  readonly before: LogVerdict;
  /** Of the new log. `damaged`: it holds records that only a newer orchd can read. */
  readonly after: LogVerdict;
}

/**
 * Copies every whole record to a new log in `to`, which must not lie in `dir` or hold a log. When it resolves the new log is durable and
 * closed. When it rejects, `to` may hold a part of the log.
 */
export async function salvage(dir: string, to: string): Promise<Salvaged> {
  const release = await begin(dir);
  try {
    await assertApart(dir, to);
    const before = await verdictOf(dir);
    const report = await salvageLog({ fs: nodeFileSystem, clock: systemClock, from: dir, to, segmentBytes: DEFAULT_SEGMENT_BYTES });
    return { ...report, before, after: await verdictOf(to) };
  } finally {
    await release();
  }
}

/** Resolves with the function that ends it. */
async function begin(dir: string): Promise<() => Promise<void>> {
  await assertHoldsLog(dir);
  return lockWritersOut(dir);
}

/** Rejects `invalid_argument` for a folder that is not there or holds no log. */
export async function assertHoldsLog(dir: string): Promise<void> {
  const names = await nodeFileSystem.list(dir).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') throw new InvalidArgumentError('dir', `${dir} is not there`);
    if (errorCode(error) === 'ENOTDIR') throw new InvalidArgumentError('dir', `${dir} is not a folder`);
    throw unavailable(`Cannot read ${dir}`, error);
  });
  // A boot that LOCK knows of has written here: its segments are missing, and that is for the verdict to say.
  if (sortFolder(names).segments.length > 0 || (await lastBootOf(nodeFileSystem, dir)) > 0) return;
  throw new InvalidArgumentError('dir', `${dir} holds no log: there is no file like ${segmentName(1)}`);
}

/** Rejects `invalid_argument` where `to` is, or lies in, `dir`. */
export async function assertApart(dir: string, to: string): Promise<void> {
  if (await liesIn(dir, to)) throw new InvalidArgumentError('to', `${to} lies in ${dir}, where nothing may change`);
}

export function readMarker(dir: string): Promise<MigratedMarker | null> {
  return read(nodeFileSystem, dir);
}

/** Resolves when the marker is durable. */
export function writeMarker(dir: string, marker: MigratedMarker): Promise<void> {
  return write(nodeFileSystem, dir, marker);
}

async function verdictOf(dir: string): Promise<LogVerdict> {
  const report = await verifyLog(nodeFileSystem, dir);
  const damage = report.damage ?? (await firstUnreadable(dir));
  if (damage !== undefined) return { verdict: 'damaged', file: damage.file, offset: damage.offset, reason: damage.reason };
  const { batches, records, torn } = report;
  const contents = { segments: report.segments.length, batches, records };
  if (torn === undefined) return { verdict: 'whole', ...contents };
  const { offset, bytes, validBatchesDropped: batchesDropped } = torn;
  return { verdict: 'torn', file: segmentName(torn.segment), offset, bytes: bytes.length, batchesDropped, ...contents };
}

/** In a log whose bytes are sound: an opening also refuses records that this version of orchd does not know. */
async function firstUnreadable(dir: string): Promise<LogDamagedError | undefined> {
  const decoder = new RecordDecoder();
  for await (const finding of findingsOf(nodeFileSystem, dir)) {
    // The torn end: an opening cuts here and looks no further.
    if (finding.kind === 'bad') return undefined;
    try {
      for (const line of finding.lines) decoder.decode(line);
    } catch (error) {
      if (!hasCode(error, 'storage_damaged')) throw error;
      return new LogDamagedError(dir, finding.file, finding.offset, error.message);
    }
  }
  return undefined;
}

async function liesIn(dir: string, to: string): Promise<boolean> {
  const way = path.relative(await realpath(dir), await realPlace(to));
  return way !== '..' && !way.startsWith(`..${path.sep}`);
}

/** Where a folder that need not be there would lie, links resolved. */
async function realPlace(folder: string): Promise<string> {
  const full = path.resolve(folder);
  try {
    return await realpath(full);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw unavailable(`Cannot read ${folder}`, error);
    return path.join(await realPlace(path.dirname(full)), path.basename(full));
  }
}
