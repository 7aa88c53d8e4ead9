import { crc32 } from 'node:zlib';

/** First byte of a batch. No UTF-8 text contains it, so nothing that a caller appends can be taken for a batch. */
export const BATCH_MARK = 0xfb;
export const FRAME_BYTES = 32;
export const ALIGNMENT = 8;
/** Above what one call may append; a longer length field is damage, and nothing is allocated for it. */
export const MAX_BODY_BYTES = 256 * 2 ** 20;

const CRC_AT = 4;
const LENGTH_AT = 8;
const COUNT_AT = 12;
const FIRST_AT = 16;
const DURABLE_AT = 24;
const TWO_32 = 2 ** 32;
/** High half of a safe integer stays below this. */
const HIGH_LIMIT = 2 ** 21;

export const BatchKind = { records: 1, mark: 2, cleaned: 3 } as const;
export type BatchKind = (typeof BatchKind)[keyof typeof BatchKind];

export interface BatchFrame {
  /** Checked against `BatchKind` by the reader: an unknown kind in a whole batch was written by a newer orchd. */
  kind: number;
  first: number;
  count: number;
  /** Highest record known to be synced when the batch was written. */
  durable: number;
}

export interface DecodedBatch extends BatchFrame {
  bodyStart: number;
  bodyEnd: number;
  /** Where the next batch begins. */
  end: number;
}

/** Bytes that a batch with this body takes up in a segment. */
export function batchBytes(bodyBytes: number): number {
  return align(FRAME_BYTES + bodyBytes);
}

export function align(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
}

/** Checksums of one segment: its salt makes a batch of another segment, or of the file's former life, invalid. */
export class BatchCodec {
  readonly #saltCrc: number;

  constructor(salt: Buffer) {
    this.#saltCrc = crc32(salt);
  }

  /** Writes the batch at `at`, a multiple of 8, and returns its end. `bodyBytes` is the body's exact length in UTF-8. */
  encode(into: Buffer, at: number, frame: BatchFrame, body: string, bodyBytes: number): number {
    const bodyStart = at + FRAME_BYTES;
    const end = align(bodyStart + bodyBytes);
    into[at] = BATCH_MARK;
    into[at + 1] = frame.kind;
    into[at + 2] = 0;
    into[at + 3] = 0;
    into.writeUInt32LE(bodyBytes, at + LENGTH_AT);
    into.writeUInt32LE(frame.count, at + COUNT_AT);
    writeInteger(into, frame.first, at + FIRST_AT);
    writeInteger(into, frame.durable, at + DURABLE_AT);
    const written = bodyBytes === 0 ? 0 : into.write(body, bodyStart, bodyBytes, 'utf8');
    if (written !== bodyBytes) throw new Error(`The body takes ${written} bytes, not ${bodyBytes}.`);
    into.fill(0, bodyStart + bodyBytes, end);
    into.writeUInt32LE(this.#crc(into, at, end), at + CRC_AT);
    return end;
  }

  /**
   * The batch at `at`, or undefined where the bytes are not a whole batch. `from` is the segment's content; it must be
   * filled up with zeroes to a multiple of 8, so that a file cut inside the last batch's filling still holds that batch.
   */
  decode(from: Buffer, at: number): DecodedBatch | undefined {
    if (at + FRAME_BYTES > from.length || from[at] !== BATCH_MARK || from[at + 2] !== 0 || from[at + 3] !== 0) return undefined;
    const length = from.readUInt32LE(at + LENGTH_AT);
    const bodyStart = at + FRAME_BYTES;
    const end = align(bodyStart + length);
    if (length > MAX_BODY_BYTES || end > from.length) return undefined;
    const first = readInteger(from, at + FIRST_AT);
    const durable = readInteger(from, at + DURABLE_AT);
    const count = from.readUInt32LE(at + COUNT_AT);
    if (count === 0 || durable >= first || !Number.isSafeInteger(first + count)) return undefined;
    if (from.readUInt32LE(at + CRC_AT) !== this.#crc(from, at, end)) return undefined;
    return { kind: from[at + 1] ?? 0, first, count, durable, bodyStart, bodyEnd: bodyStart + length, end };
  }

  #crc(bytes: Buffer, at: number, end: number): number {
    return crc32(bytes.subarray(at + LENGTH_AT, end), crc32(bytes.subarray(at, at + CRC_AT), this.#saltCrc));
  }
}

/** Two halves: a BigInt per field would be garbage in the hottest loop of the log. */
function writeInteger(into: Buffer, value: number, at: number): void {
  into.writeUInt32LE(value % TWO_32, at);
  into.writeUInt32LE(Math.floor(value / TWO_32), at + 4);
}

function readInteger(from: Buffer, at: number): number {
  const high = from.readUInt32LE(at + 4);
  return high < HIGH_LIMIT ? high * TWO_32 + from.readUInt32LE(at) : Number.MAX_VALUE;
}
