import { BatchCodec, batchBytes, BatchKind, FRAME_BYTES, type DecodedBatch } from './batch-codec.js';
import { LogDamagedError } from './damage.js';
import { segmentName } from './file-names.js';
import type { LogMachine } from './log.fixture.js';
import { decodeHeader, encodeHeader, HEADER_BYTES, type SegmentHeader } from './segment-header.js';

const LENGTH_AT = 8;

/** Opening refuses, names the place, and has not changed a byte. */
export async function expectRefusal(machine: LogMachine, segment: number, reason: string): Promise<void> {
  const before = machine.files.map((name) => [name, machine.bytesOf(name)] as const);
  const error = await machine.reopen().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(LogDamagedError);
  expect(error).toMatchObject({ code: 'storage_damaged', file: segmentName(segment) });
  expect((error as Error).message).toContain(reason);
  expect((error as Error).message).toContain('orchd wal salvage /log');
  for (const [name, bytes] of before) expect(machine.bytesOf(name).equals(bytes)).toBe(true);
}

/** Offsets of the batches of a segment. */
export function batchOffsets(bytes: Buffer): number[] {
  const codec = new BatchCodec(headerOf(bytes).salt);
  const offsets: number[] = [];
  for (let at = HEADER_BYTES, batch = codec.decode(bytes, at); batch; batch = codec.decode(bytes, at)) {
    offsets.push(at);
    at = batch.end;
  }
  return offsets;
}

/** Appends a whole batch to a segment, as another writer would have. */
export function addBatch(machine: LogMachine, segment: number, kind: number, first: number, body = ''): void {
  machine.damage(segment, (bytes) => {
    const end = endOfBatches(bytes);
    const whole = Buffer.alloc(Math.max(bytes.length, end + batchBytes(body.length)));
    bytes.copy(whole);
    new BatchCodec(headerOf(bytes).salt).encode(whole, end, { kind, first, count: 1, durable: first - 1 }, body, body.length);
    return whole;
  });
}

export function batchAt(bytes: Buffer, offset: number): DecodedBatch | undefined {
  return new BatchCodec(headerOf(bytes).salt).decode(bytes, offset);
}

/** Gives a segment another header, whole in itself. */
export function changeHeader(machine: LogMachine, segment: number, change: Partial<SegmentHeader>, version?: number): void {
  machine.damage(segment, (bytes) => void encodeHeader({ ...headerOf(bytes), ...change }, version).copy(bytes));
}

function headerOf(bytes: Buffer): SegmentHeader {
  const header = decodeHeader(bytes);
  if (typeof header === 'string') throw new Error('The header is bad.');
  return header;
}

export function endOfBatches(bytes: Buffer): number {
  const last = batchOffsets(bytes).at(-1);
  return last === undefined ? HEADER_BYTES : last + batchBytes(bytes.readUInt32LE(last + LENGTH_AT));
}

/** Up to the mark that a clean close leaves. */
export function acknowledgedBytes(bytes: Buffer): number {
  const last = batchOffsets(bytes).at(-1) ?? 0;
  return bytes[last + 1] === BatchKind.mark ? last : endOfBatches(bytes);
}

export function withFlippedBit(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
  return changed;
}

/** Where the text of the batch ends: cutting the filling behind it costs nothing. */
export function endOfText(bytes: Buffer, offsets: number[], index: number): number {
  const at = offsets[index] ?? 0;
  return at + FRAME_BYTES + bytes.readUInt32LE(at + LENGTH_AT);
}
