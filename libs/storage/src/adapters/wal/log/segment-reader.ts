import path from 'node:path';
import { BatchCodec, align, ALIGNMENT, BATCH_MARK, type DecodedBatch } from './batch-codec.js';
import { unavailable } from './damage.js';
import { segmentName } from './file-names.js';
import type { FileSystem, OpenFile } from './file-system.js';
import { decodeHeader, HEADER_BYTES, saltOf, type SegmentHeader } from './segment-header.js';

/** No segment is longer: one call's records, at most MAX_BODY_BYTES, and what opens a segment. Nothing above is read into memory. */
const MAX_SEGMENT_BYTES = 2 ** 30;

/** Zeroes are skipped by the page: the unwritten rest of a segment may be most of it. */
const ZEROES = Buffer.alloc(4096);

/** One segment in memory, as it lies on disk. Knows single batches; the verdict over several is `recovery.ts`. */
export class SegmentImage {
  readonly name: string;
  readonly header: SegmentHeader | 'bad' | 'newer';
  readonly #codec: BatchCodec | undefined;

  constructor(
    readonly segment: number,
    /** Filled up with zeroes to a multiple of 8. */
    readonly bytes: Buffer,
    readonly fileBytes: number,
  ) {
    this.name = segmentName(segment);
    this.header = decodeHeader(bytes);
    // The salt of a damaged header is still worth a try: it is wrong only if the damage is just there.
    const salt = typeof this.header === 'string' ? saltOf(bytes) : this.header.salt;
    this.#codec = salt && new BatchCodec(salt);
  }

  /** A read error, or a file of a length that no segment has, rejects: neither is the end of the log. */
  static async read(fs: FileSystem, folder: string, segment: number): Promise<SegmentImage> {
    return withSegment(fs, folder, segment, async (file) => {
      const size = await file.size();
      if (size > MAX_SEGMENT_BYTES) throw new Error(`${size} bytes are more than a segment can have`);
      const bytes = Buffer.allocUnsafe(align(size));
      const count = await file.read(bytes.subarray(0, size), 0);
      if (count !== size) throw new Error(`${count} of ${size} bytes could be read`);
      bytes.fill(0, size);
      return new SegmentImage(segment, bytes, size);
    });
  }

  batchAt(offset: number): DecodedBatch | undefined {
    return this.#codec?.decode(this.bytes, offset);
  }

  /** Whole batches behind a bad place, wherever they lie. */
  *batchesBehind(offset: number): Generator<DecodedBatch> {
    for (let at = align(offset); at < this.bytes.length;) {
      const batch = this.bytes[at] === BATCH_MARK ? this.batchAt(at) : undefined;
      if (batch) yield batch;
      at = batch ? batch.end : at + ALIGNMENT;
    }
  }

  /** One more than the last byte that is not zero, at least `from`. */
  endOfContent(from = HEADER_BYTES): number {
    let end = this.bytes.length;
    while (end - from >= ZEROES.length && this.bytes.subarray(end - ZEROES.length, end).equals(ZEROES)) end -= ZEROES.length;
    while (end > from && this.bytes[end - 1] === 0) end--;
    return Math.max(end, from);
  }

  /** The records of a batch, without their line ends. */
  linesOf(batch: DecodedBatch): string[] {
    return this.bytes.toString('utf8', batch.bodyStart, batch.bodyEnd - 1).split('\n');
  }
}

/** Segments in order; while one is looked at the next is being read, so that the disk and the processor of a replay work at once. */
export async function* readAhead(fs: FileSystem, folder: string, segments: readonly number[]): AsyncGenerator<SegmentImage> {
  const read = (index: number) => {
    const segment = segments[index];
    const image = segment === undefined ? undefined : SegmentImage.read(fs, folder, segment);
    image?.catch(() => undefined); // heard where it is awaited, if its turn ever comes
    return image;
  };
  let next = read(0);
  try {
    for (let index = 1; next !== undefined; index++) {
      const image = await next;
      next = read(index);
      yield image;
    }
  } finally {
    await next?.catch(() => undefined);
  }
}

export async function readHeader(fs: FileSystem, folder: string, segment: number): Promise<SegmentHeader | 'bad' | 'newer'> {
  return withSegment(fs, folder, segment, async (file) => {
    const block = Buffer.alloc(HEADER_BYTES);
    await file.read(block, 0);
    return decodeHeader(block);
  });
}

async function withSegment<T>(fs: FileSystem, folder: string, segment: number, read: (file: OpenFile) => Promise<T>): Promise<T> {
  const name = segmentName(segment);
  try {
    const file = await fs.open(path.join(folder, name), 'read');
    try {
      return await read(file);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw unavailable(`Cannot read ${name}`, error);
  }
}
