import path from 'node:path';
import { hasCode } from '../../../contract/errors.js';
import { BatchKind, type DecodedBatch } from './batch-codec.js';
import { LogDamagedError, unavailable } from './damage.js';
import { segmentName } from './file-names.js';
import { sizeOf, type FileSystem } from './file-system.js';
import { HEADER_BYTES } from './segment-header.js';
import { readAhead, readHeader, type SegmentImage } from './segment-reader.js';

export interface Replay {
  /** The records of one batch, in log order, without line ends. What it throws ends the opening. */
  records(lines: string[], segment: number): void | Promise<void>;
  progress?(doneBytes: number, totalBytes: number): void;
}

export interface SegmentExtent {
  segment: number;
  /** Where its batches end. */
  usedBytes: number;
  fileBytes: number;
}

export interface TornTail {
  segment: number;
  offset: number;
  /** The bad bytes, without the zeroes behind them. */
  bytes: Buffer;
  validBatchesDropped: number;
}

/** What a folder holds when it is not refused. Nothing has been changed yet: that is `repair.ts`. */
export interface Verdict {
  /** Ascending; those that stay. */
  segments: SegmentExtent[];
  nextRecord: number;
  boot: number;
  epochFloor: number;
  /** Last segment that may have been removed. */
  cleaned: number;
  torn?: TornTail;
  /** A segment whose creation was cut short: to be deleted. */
  cutShort?: number;
  /** The batches above the highest `durable`, as they were read: to be written once more. */
  unproven?: { segment: number; offset: number; bytes: Buffer };
}

/** Longest stretch of replay that keeps the event loop from other work, ms. */
const SLICE_MS = 10;

/**
 * Reads a folder's segments in order, hands out the records of every whole batch up to the end of the log, and judges by the damage
 * table of FORMAT.md. Rejects with `storage_damaged` (refused) or `storage_unavailable` (a read error); what it handed out is void then.
 */
export class Recovery {
  readonly #verdict: Verdict = { segments: [], nextRecord: 1, boot: 0, epochFloor: 0, cleaned: 0 };
  /** Highest record that is proven to have been synced. */
  #durable = 0;
  /** Batches of the segment being read that are not, oldest first. */
  #unproven: { offset: number; last: number }[] = [];
  #doneBytes = 0;
  #totalBytes = 0;
  #sliceEnd = performance.now() + SLICE_MS;

  constructor(
    private readonly fs: FileSystem,
    private readonly folder: string,
    private readonly replay: Replay,
  ) {}

  async run(segments: number[]): Promise<Verdict> {
    this.#refuseGap(segments);
    for (const segment of segments) this.#totalBytes += await this.#fileBytes(segment);
    const oldest = segments[0] ?? 1;
    for await (const image of readAhead(this.fs, this.folder, segments)) {
      const { segment } = image;
      if (!this.#acceptHeader(image, segment === oldest, segment === segments.at(-1))) break;
      const end = await this.#readBatches(image);
      if (image.endOfContent(end) > end) await this.#judgeBadBytes(image, end, segments[segments.indexOf(segment) + 1]);
      this.#verdict.segments.push({ segment, usedBytes: end, fileBytes: image.fileBytes });
      this.#keepUnproven(image, end);
      await this.#giveWay(image.fileBytes);
      if (this.#verdict.torn) break;
    }
    if (oldest > this.#verdict.cleaned + 1) {
      this.#refuse(oldest, 0, `the log must begin with segment ${this.#verdict.cleaned + 1}: older segments are missing`);
    }
    return this.#verdict;
  }

  #refuseGap(segments: number[]): void {
    segments.reduce(
      (before, segment) => {
        if (segment !== before + 1) this.#refuse(segment, 0, `the segment before it, ${segmentName(segment - 1)}, is missing`);
        return segment;
      },
      (segments[0] ?? 1) - 1,
    );
  }

  /** False: the segment was never finished. */
  #acceptHeader(image: SegmentImage, oldest: boolean, newest: boolean): boolean {
    const { header, segment } = image;
    const verdict = this.#verdict;
    if (header === 'newer') this.#refuse(segment, 0, 'the segment was written by a newer orchd');
    if (header === 'bad') {
      // Safe because a header is synced before anything comes after it: where something does, the header was whole once.
      if (!newest || image.endOfContent() > HEADER_BYTES) this.#refuse(segment, 0, 'the header is damaged');
      verdict.cutShort = segment;
      return false;
    }
    if (header.segment !== segment) this.#refuse(segment, 0, `the header is that of segment ${header.segment}`);
    if (oldest) verdict.nextRecord = header.firstRecord;
    if (header.firstRecord !== verdict.nextRecord) {
      this.#refuse(segment, 0, `record ${verdict.nextRecord} must come next, but the segment begins with ${header.firstRecord}`);
    }
    if (header.boot < verdict.boot || header.epochFloor < verdict.epochFloor) {
      this.#refuse(segment, 0, 'the segment is older than the one before it: files of two logs are mixed up');
    }
    verdict.boot = header.boot;
    verdict.epochFloor = header.epochFloor;
    // The header proves that all before it was synced.
    this.#unproven = [];
    return true;
  }

  /** Returns the offset of the first byte that is not part of a whole batch. */
  async #readBatches(image: SegmentImage): Promise<number> {
    let at = HEADER_BYTES;
    for (let batch = image.batchAt(at); batch; batch = image.batchAt(at)) {
      const done = this.#take(image, batch, at);
      if (done) await done;
      at = batch.end;
      if (performance.now() >= this.#sliceEnd) await this.#giveWay(0, at);
    }
    return at;
  }

  #take(image: SegmentImage, batch: DecodedBatch, at: number): void | Promise<void> {
    const verdict = this.#verdict;
    if (batch.first !== verdict.nextRecord) {
      this.#refuse(image.segment, at, `record ${verdict.nextRecord} must come next, but the batch begins with ${batch.first}`);
    }
    verdict.nextRecord = batch.first + batch.count;
    this.#durable = Math.max(this.#durable, batch.durable);
    this.#unproven.push({ offset: at, last: verdict.nextRecord - 1 });
    while ((this.#unproven[0]?.last ?? Infinity) <= this.#durable) this.#unproven.shift();

    if (batch.kind === BatchKind.records) return this.#handOut(image, batch, at);
    if (batch.kind === BatchKind.cleaned) verdict.cleaned = Math.max(verdict.cleaned, Number(image.linesOf(batch)[0]));
    else if (batch.kind !== BatchKind.mark) {
      this.#refuse(image.segment, at, `the batch is of kind ${batch.kind}: written by a newer orchd`);
    }
  }

  /** What the log's user cannot read gets its place. */
  #handOut(image: SegmentImage, batch: DecodedBatch, at: number): void | Promise<void> {
    const refused = (error: unknown): never => {
      if (hasCode(error, 'storage_damaged')) this.#refuse(image.segment, at, error.message);
      throw error;
    };
    try {
      return this.replay.records(image.linesOf(batch), image.segment)?.catch(refused);
    } catch (error) {
      refused(error);
    }
  }

  /** Torn, if nothing behind the place shows that the record there was on disk once; else acknowledged data is corrupt. */
  async #judgeBadBytes(image: SegmentImage, offset: number, later: number | undefined): Promise<void> {
    const record = this.#verdict.nextRecord;
    let dropped = 0;
    for (const batch of image.batchesBehind(offset)) {
      if (batch.durable >= record) {
        this.#refuse(image.segment, offset, `record ${record} is damaged: a later batch shows that it was synced`);
      }
      dropped++;
    }
    if (later !== undefined) {
      const header = await readHeader(this.fs, this.folder, later);
      const successor = segmentName(later);
      if (header !== 'bad') this.#refuse(image.segment, offset, `record ${record} is damaged: ${successor} was begun after it was synced`);
      this.#verdict.cutShort = later;
    }
    const bytes = image.bytes.subarray(offset, image.endOfContent(offset));
    this.#verdict.torn = { segment: image.segment, offset, bytes, validBatchesDropped: dropped };
  }

  #keepUnproven(image: SegmentImage, end: number): void {
    const offset = this.#unproven[0]?.offset;
    this.#verdict.unproven =
      offset === undefined ? undefined : { segment: image.segment, offset, bytes: image.bytes.subarray(offset, end) };
  }

  async #fileBytes(segment: number): Promise<number> {
    const name = segmentName(segment);
    return sizeOf(this.fs, path.join(this.folder, name)).catch((error: unknown) => {
      throw unavailable(`Cannot read ${name}`, error);
    });
  }

  /** Lets the event loop turn once: a server beside the replay must go on answering. */
  async #giveWay(doneBytes: number, inSegment = 0): Promise<void> {
    this.#doneBytes += doneBytes;
    this.replay.progress?.(this.#doneBytes + inSegment, this.#totalBytes);
    await new Promise(setImmediate);
    this.#sliceEnd = performance.now() + SLICE_MS;
  }

  #refuse(segment: number, offset: number, reason: string): never {
    throw new LogDamagedError(this.folder, segmentName(segment), offset, reason);
  }
}
