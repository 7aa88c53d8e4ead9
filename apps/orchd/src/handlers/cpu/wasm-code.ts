/** As much of the WebAssembly binary format (core specification 1.0, chapter 5) as one function on 32-bit integers takes. */
const I32 = 0x7f;
const NO_RESULT = 0x40;

export const ADD = 0x6a;
export const SUB = 0x6b;
export const AND = 0x71;
export const XOR = 0x73;
export const END = 0x0b;
export const LOOP = [0x03, NO_RESULT];
/** To the begin of the loop around. */
export const BRANCH_IF = [0x0d, 0];

const WORD_ALIGNED = 2;

export const get = (local: number): number[] => [0x20, ...unsigned(local)];
export const set = (local: number): number[] => [0x21, ...unsigned(local)];
/** Set, and leave the value. */
export const tee = (local: number): number[] => [0x22, ...unsigned(local)];
export const constant = (value: number): number[] => [0x41, ...signed(value)];
export const rotateRight = (bits: number): number[] => [...constant(bits), 0x78];
export const shiftRight = (bits: number): number[] => [...constant(bits), 0x76];
export const load = (address: number): number[] => [...constant(0), 0x28, WORD_ALIGNED, ...unsigned(address)];
export const store = (address: number, value: readonly number[]): number[] => [
  ...constant(0),
  ...value,
  0x36,
  WORD_ALIGNED,
  ...unsigned(address),
];

/** A module with one page of memory, exported as `memory`, and a function of one integer that returns nothing. */
export function moduleOf(name: string, locals: number, code: readonly number[]): Uint8Array<ArrayBuffer> {
  const body = [1, ...unsigned(locals), I32, ...code, END];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 1, I32, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [2, ...text('memory'), 2, 0, ...text(name), 0, 0]),
    ...section(10, [1, ...unsigned(body.length), ...body]),
  ]);
}

function section(id: number, content: readonly number[]): number[] {
  return [id, ...unsigned(content.length), ...content];
}

function text(name: string): number[] {
  return [name.length, ...Buffer.from(name, 'ascii')];
}

/** LEB128. */
function unsigned(value: number): number[] {
  const bytes: number[] = [];
  for (; value > 0x7f; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
  return [...bytes, value];
}

function signed(value: number): number[] {
  const bytes: number[] = [];
  for (; value < -0x40 || value > 0x3f; value >>= 7) bytes.push((value & 0x7f) | 0x80);
  return [...bytes, value & 0x7f];
}
