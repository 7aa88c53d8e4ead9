import { decodeHeader, encodeHeader, HEADER_BYTES } from './segment-header.js';

const HEADER = { segment: 7, firstRecord: 2 ** 41 + 1, boot: 3, epochFloor: Number.MAX_SAFE_INTEGER, salt: Buffer.from('8 bytes.') };

describe('segment header', () => {
  it('gives back what it was given', () => {
    expect(decodeHeader(encodeHeader(HEADER))).toEqual(HEADER);
  });

  it('notices every changed byte of its block', () => {
    for (let at = 0; at < HEADER_BYTES; at++) {
      const block = encodeHeader(HEADER);
      block[at] = (block[at] ?? 0) ^ 1;
      expect(decodeHeader(block)).toBe('bad');
    }
  });

  it.each([
    ['zeroes', Buffer.alloc(HEADER_BYTES)],
    ['an empty file', Buffer.alloc(0)],
    ['a block cut short', encodeHeader(HEADER).subarray(0, HEADER_BYTES - 1)],
  ])('does not take %s for a header', (_, block) => {
    expect(decodeHeader(block)).toBe('bad');
  });

  it('tells a newer version from damage', () => {
    expect(decodeHeader(encodeHeader(HEADER, 2))).toBe('newer');
  });
});
