import { BatchCodec, batchBytes, BatchKind, FRAME_BYTES, type BatchFrame } from './batch-codec.js';

const codec = new BatchCodec(Buffer.from('salt-one'));
const FRAME: BatchFrame = { kind: BatchKind.records, first: 2 ** 40 + 7, count: 2, durable: 2 ** 40 + 3 };
const LENGTH_AT = 8;

function encoded(body: string, frame = FRAME): Buffer {
  const bytes = Buffer.alloc(batchBytes(Buffer.byteLength(body)), 0xaa);
  expect(codec.encode(bytes, 0, frame, body, Buffer.byteLength(body))).toBe(bytes.length);
  return bytes;
}

describe('BatchCodec', () => {
  it.each(['a\nb\n', '', 'x'.repeat(8) + '\n', 'Zürich\n日本\u{1f600}\n', '\u0000\n\u0000\n', 'y'.repeat(100_000) + '\n'])(
    'gives back what it was given (%#)',
    (body) => {
      const bytes = encoded(body);
      const batch = codec.decode(bytes, 0);
      expect(batch).toMatchObject({ ...FRAME, end: bytes.length });
      expect(bytes.toString('utf8', batch?.bodyStart, batch?.bodyEnd)).toBe(body);
    },
  );

  it('begins every batch at a multiple of 8', () => {
    for (let length = 0; length < 20; length++) expect(batchBytes(length) % 8).toBe(0);
  });

  it('notices every changed bit, filling included', () => {
    const bytes = encoded('one\ntwo\nthree\n');
    for (let at = 0; at < bytes.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ (1 << bit);
        expect(codec.decode(changed, 0)).toBeUndefined();
      }
    }
  });

  it('takes no cut batch for a whole one', () => {
    const bytes = encoded('one\ntwo\n');
    for (let length = 0; length < bytes.length; length++) expect(codec.decode(bytes.subarray(0, length), 0)).toBeUndefined();
  });

  it.each([0, 1, FRAME_BYTES, 0x7fffffff, 0xffffffff])('reads nothing at length %i, whatever lies behind', (length) => {
    const bytes = Buffer.concat([encoded('one\ntwo\n'), encoded('three\n')]);
    bytes.writeUInt32LE(length, LENGTH_AT);
    expect(codec.decode(bytes, 0)).toBeUndefined();
  });

  it('does not take zeroes for an empty batch', () => {
    expect(codec.decode(Buffer.alloc(4096), 0)).toBeUndefined();
  });

  it('does not take a batch of another segment for one of this', () => {
    expect(new BatchCodec(Buffer.from('salt-two')).decode(encoded('one\ntwo\n'), 0)).toBeUndefined();
  });

  it.each([
    ['no records', { count: 0 }],
    ['a record that is synced before it is written', { durable: FRAME.first }],
  ])('refuses a batch with %s', (_, wrong) => {
    expect(codec.decode(encoded('one\n', { ...FRAME, ...wrong }), 0)).toBeUndefined();
  });

  it('refuses to write a body of another length than was said', () => {
    expect(() => codec.encode(Buffer.alloc(100), 0, FRAME, 'ab\n', 8)).toThrow('3 bytes, not 8');
  });

  it('keeps numbers up to the largest safe integer', () => {
    const frame = { ...FRAME, first: Number.MAX_SAFE_INTEGER - 5, durable: Number.MAX_SAFE_INTEGER - 6 };
    expect(codec.decode(encoded('x\n', frame), 0)).toMatchObject(frame);
  });
});
