import { crc32 } from 'node:zlib';

export const HEADER_BYTES = 4096;
const FORMAT_VERSION = 1;

const MAGIC = Buffer.from([0xf7, ...Buffer.from('orchd'), 0x0d, 0x0a]);
const MAGIC_CRC = crc32(MAGIC);
const CRC_AT = 8;
const VERSION_AT = 12;
const SEGMENT_AT = 16;
const FIRST_AT = 24;
const BOOT_AT = 32;
const FLOOR_AT = 40;
const SALT_AT = 48;

export const SALT_BYTES = 8;

export interface SegmentHeader {
  segment: number;
  firstRecord: number;
  boot: number;
  epochFloor: number;
  salt: Buffer;
}

/** The header block, byte for byte as in FORMAT.md. */
export function encodeHeader(header: SegmentHeader, version = FORMAT_VERSION): Buffer {
  const block = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(block);
  block.writeUInt32LE(version, VERSION_AT);
  block.writeBigUInt64LE(BigInt(header.segment), SEGMENT_AT);
  block.writeBigUInt64LE(BigInt(header.firstRecord), FIRST_AT);
  block.writeBigUInt64LE(BigInt(header.boot), BOOT_AT);
  block.writeBigUInt64LE(BigInt(header.epochFloor), FLOOR_AT);
  header.salt.copy(block, SALT_AT, 0, SALT_BYTES);
  block.writeUInt32LE(headerCrc(block), CRC_AT);
  return block;
}

/** `bad`: not a header as any orchd wrote it; `newer`: a whole one of a version that we do not know. */
export function decodeHeader(block: Buffer): SegmentHeader | 'bad' | 'newer' {
  if (block.length < HEADER_BYTES || !block.subarray(0, MAGIC.length).equals(MAGIC)) return 'bad';
  if (block.readUInt32LE(CRC_AT) !== headerCrc(block)) return 'bad';
  if (block.readUInt32LE(VERSION_AT) !== FORMAT_VERSION) return 'newer';
  const header = {
    segment: Number(block.readBigUInt64LE(SEGMENT_AT)),
    firstRecord: Number(block.readBigUInt64LE(FIRST_AT)),
    boot: Number(block.readBigUInt64LE(BOOT_AT)),
    epochFloor: Number(block.readBigUInt64LE(FLOOR_AT)),
    salt: Buffer.from(block.subarray(SALT_AT, SALT_AT + SALT_BYTES)),
  };
  const numbers = [header.segment, header.firstRecord, header.boot, header.epochFloor];
  return numbers.every((value) => Number.isSafeInteger(value)) ? header : 'bad';
}

/** The salt of a header that may be damaged elsewhere. */
export function saltOf(block: Buffer): Buffer | undefined {
  return block.length < HEADER_BYTES ? undefined : block.subarray(SALT_AT, SALT_AT + SALT_BYTES);
}

function headerCrc(block: Buffer): number {
  return crc32(block.subarray(VERSION_AT, HEADER_BYTES), MAGIC_CRC);
}
