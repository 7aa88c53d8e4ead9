import { readFileSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';

const MARK = 0xfb;
const FRAME_BYTES = 32;
const HEADER_BYTES = 4096;
const SALT = { start: 48, end: 56 };
const VERSION_AT = 12;
const HEADER_CRC_AT = 8;
export const LENGTH_AT = 8;

export interface BatchOnDisk {
  readonly offset: number;
  readonly end: number;
  readonly kind: number;
  readonly first: number;
  readonly count: number;
  readonly durable: number;
  readonly lines: readonly string[];
}

/** A segment of the write-ahead log, read and written as FORMAT.md has it and with none of the code that is tested. */
export class SegmentFile {
  readonly bytes: Buffer;
  readonly batches: readonly BatchOnDisk[];

  constructor(readonly path: string) {
    this.bytes = readFileSync(path);
    this.batches = [...this.#read()];
  }

  /** Where the last whole batch ends. */
  get end(): number {
    return this.batches.at(-1)?.end ?? HEADER_BYTES;
  }

  /** Puts a batch of one record behind the last one, with everything about it as it should be. */
  append(kind: number, body: string): void {
    const last = this.batches.at(-1)!;
    const first = last.first + last.count;
    const batch = Buffer.alloc(aligned(FRAME_BYTES + body.length));
    batch[0] = MARK;
    batch[1] = kind;
    batch.writeUInt32LE(body.length, LENGTH_AT);
    batch.writeUInt32LE(1, 12);
    batch.writeBigUInt64LE(BigInt(first), 16);
    batch.writeBigUInt64LE(BigInt(first - 1), 24);
    batch.write(body, FRAME_BYTES);
    batch.writeUInt32LE(this.#checksum(batch), 4);
    batch.copy(this.bytes, last.end);
  }

  /** Makes the header that of another version of the format, checksum and all. */
  setVersion(version: number): void {
    const header = this.bytes.subarray(0, HEADER_BYTES);
    header.writeUInt32LE(version, VERSION_AT);
    header.writeUInt32LE(crc32(header.subarray(VERSION_AT), crc32(header.subarray(0, HEADER_CRC_AT))), HEADER_CRC_AT);
  }

  save(bytes: Buffer = this.bytes): void {
    writeFileSync(this.path, bytes);
  }

  *#read(): Generator<BatchOnDisk> {
    for (let at = HEADER_BYTES; this.bytes[at] === MARK;) {
      const length = this.bytes.readUInt32LE(at + LENGTH_AT);
      const end = at + aligned(FRAME_BYTES + length);
      const batch = this.bytes.subarray(at, end);
      if (batch.readUInt32LE(4) !== this.#checksum(batch)) throw new Error(`the checksum of the batch at ${at} is not as FORMAT.md says`);
      yield {
        offset: at,
        end,
        kind: batch[1]!,
        count: batch.readUInt32LE(12),
        first: Number(batch.readBigUInt64LE(16)),
        durable: Number(batch.readBigUInt64LE(24)),
        lines: batch
          .toString('utf8', FRAME_BYTES, FRAME_BYTES + length)
          .split('\n')
          .slice(0, -1),
      };
      at = end;
    }
  }

  #checksum(batch: Buffer): number {
    return crc32(batch.subarray(LENGTH_AT), crc32(batch.subarray(0, 4), crc32(this.bytes.subarray(SALT.start, SALT.end))));
  }
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}
