import { BatchKind, FRAME_BYTES, type DecodedBatch } from './batch-codec.js';
import { LogDamagedError, unavailable } from './damage.js';
import { sortFolder } from './file-names.js';
import type { FileSystem } from './file-system.js';
import { lastBootOf } from './folder-lock.js';
import { refuseMissingNewest } from './opening.js';
import { Recovery, type SegmentExtent, type TornTail } from './recovery.js';
import { HEADER_BYTES } from './segment-header.js';
import { SegmentImage } from './segment-reader.js';

/** What an opening would say, without doing any of it. */
export interface LogReport {
  verdict: 'whole' | 'torn' | 'damaged';
  records: number;
  batches: number;
  segments: SegmentExtent[];
  boot: number;
  epochFloor: number;
  torn?: TornTail;
  damage?: LogDamagedError;
}

/** One thing that lies in a segment, in the order of the file. `cleaned`: segments up to this one were deleted because nobody needed them. */
export type Finding =
  | { kind: 'batch'; file: string; segment: number; offset: number; batch: DecodedBatch; lines: string[]; cleaned?: number }
  /** `nextRecord`: the first record behind the bad bytes, if anything is. */
  | { kind: 'bad'; file: string; segment: number; offset: number; bytes: number; nextRecord?: number };

/**
 * The verdict of the damage table over a folder. Changes nothing and takes no lock: while an orchd writes there the last batches may look torn.
 * Rejects with `storage_unavailable` where the folder cannot be read.
 */
export async function verifyLog(fs: FileSystem, dir: string): Promise<LogReport> {
  const report: LogReport = { verdict: 'whole', records: 0, batches: 0, segments: [], boot: 0, epochFloor: 0 };
  const records = (lines: string[]) => {
    report.records += lines.length;
    report.batches++;
  };
  try {
    const verdict = await new Recovery(fs, dir, { records }).run(await segmentsOf(fs, dir));
    refuseMissingNewest(dir, await lastBootOf(fs, dir), verdict);
    const { segments, boot, epochFloor, torn } = verdict;
    return { ...report, verdict: torn ? 'torn' : 'whole', segments, boot, epochFloor, torn };
  } catch (error) {
    if (!(error instanceof LogDamagedError)) throw error;
    return { ...report, verdict: 'damaged', damage: error };
  }
}

/** Everything that lies in the segments of a folder, past any damage. */
export async function* findingsOf(fs: FileSystem, dir: string): AsyncGenerator<Finding> {
  for (const segment of await segmentsOf(fs, dir)) yield* findingsIn(await SegmentImage.read(fs, dir, segment));
}

export async function segmentsOf(fs: FileSystem, dir: string): Promise<number[]> {
  try {
    return sortFolder(await fs.list(dir)).segments;
  } catch (error) {
    throw unavailable(`Cannot read ${dir}`, error);
  }
}

function* findingsIn(image: SegmentImage): Generator<Finding> {
  const place = { file: image.name, segment: image.segment };
  if (typeof image.header === 'string') yield { kind: 'bad', ...place, offset: 0, bytes: Math.min(HEADER_BYTES, image.fileBytes) };
  let at = HEADER_BYTES;
  for (const batch of image.batchesBehind(at)) {
    const offset = batch.bodyStart - FRAME_BYTES;
    if (offset > at) yield { kind: 'bad', ...place, offset: at, bytes: offset - at, nextRecord: batch.first };
    const lines = image.linesOf(batch);
    if (batch.kind === BatchKind.records) yield { kind: 'batch', ...place, offset, batch, lines };
    else if (batch.kind === BatchKind.cleaned) yield { kind: 'batch', ...place, offset, batch, lines: [], cleaned: Number(lines[0]) };
    else yield { kind: 'batch', ...place, offset, batch, lines: [] };
    at = batch.end;
  }
  const end = image.endOfContent(at);
  if (end > at) yield { kind: 'bad', ...place, offset: at, bytes: end - at };
}
