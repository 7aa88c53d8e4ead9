import {
  ADD,
  AND,
  BRANCH_IF,
  constant,
  END,
  get,
  load,
  LOOP,
  moduleOf,
  rotateRight,
  set,
  shiftRight,
  store,
  SUB,
  tee,
  XOR,
} from './wasm-code.js';

/*
 * Writes the WebAssembly of a chain of SHA-256 (FIPS 180-4) over 32 bytes, as
 *
 *     advance(rounds):  digest <- memory;  do digest <- SHA-256(digest) while (--rounds);  memory <- digest
 *
 * with all 64 steps of the compression written out. Everything lives in locals, which the compiler keeps in registers. 32 bytes are always one
 * block, and its second half is always the same (the padding), so what the message schedule makes of that half is computed here, once.
 * Sums are ordered so that what comes late is added last.
 */

const STEPS = 64;
const WORDS = 8;
const BLOCK_WORDS = 16;

type Code = readonly number[];

// Locals; number 0 is the parameter.
const ROUNDS = 0;
const digest = (i: number): number => 1 + i;
const state = (i: number): number => 9 + i;
const word = (i: number): number => 17 + (i % BLOCK_WORDS);
const TEMP = 33;
const LOCALS = 33;

const [INITIAL, STEP_CONSTANTS] = fractionsOfPrimeRoots();

/** The second half of the block: a one, zeroes, and the length in bits. */
const PADDING = new Map([[8, 0x80000000 | 0], ...Array.from({ length: 6 }, (_, i): [number, number] => [9 + i, 0]), [15, 256]]);

export function chainModule(): Uint8Array<ArrayBuffer> {
  const words = [...Array(WORDS).keys()];
  return moduleOf('advance', LOCALS, [
    ...words.flatMap((i) => [...load(4 * i), ...set(digest(i))]),
    ...LOOP,
    ...words.flatMap((i) => [...get(digest(i)), ...set(word(i)), ...constant(INITIAL[i]!), ...set(state(i))]),
    ...compression(),
    ...words.flatMap((i) => [...get(state(i)), ...constant(INITIAL[i]!), ADD, ...set(digest(i))]),
    ...[...get(ROUNDS), ...constant(1), SUB, ...tee(ROUNDS), ...BRANCH_IF],
    END,
    ...words.flatMap((i) => store(4 * i, get(digest(i)))),
  ]);
}

/** After 64 steps the names of the state's words are back where they were, so nothing is ever moved. */
function compression(): number[] {
  const code: number[] = [];
  let names = [...Array(WORDS).keys()].map(state);
  for (let i = 0; i < STEPS; i++) {
    const named = (k: number): Code => get(names[k]!);
    const [a, b, c, d] = [named(0), named(1), named(2), named(3)];
    const [e, f, g, h] = [named(4), named(5), named(6), named(7)];
    code.push(...(i < BLOCK_WORDS ? [] : schedule(i)));
    code.push(...h, ...input(i), ADD, ...choose(e, f, g), ADD, ...xor(turned(e, 6), turned(e, 11), turned(e, 25)), ADD, ...set(TEMP));
    code.push(...d, ...get(TEMP), ADD, ...set(names[3]!));
    code.push(...get(TEMP), ...xor(turned(a, 2), turned(a, 13), turned(a, 22)), ADD, ...majority(a, b, c), ADD, ...set(names[7]!));
    names = [names[7]!, ...names.slice(0, 7)];
  }
  return code;
}

/** Word and constant of a step. */
function input(i: number): Code {
  const known = i < BLOCK_WORDS ? PADDING.get(i) : undefined;
  if (known !== undefined) return constant((STEP_CONSTANTS[i]! + known) | 0);
  return [...get(word(i)), ...constant(STEP_CONSTANTS[i]!), ADD];
}

/** w[i] = w[i-16] + s0(w[i-15]) + w[i-7] + s1(w[i-2]); what is known of it becomes one constant. */
function schedule(i: number): Code {
  const terms: Code[] = [];
  let known = 0;
  const add = (j: number, value: (x: number) => number, code: (x: Code) => Code): void => {
    const padding = j < BLOCK_WORDS ? PADDING.get(j) : undefined;
    if (padding === undefined) terms.push(code(get(word(j))));
    else known = (known + value(padding)) | 0;
  };
  const same = <T>(x: T): T => x;
  add(i - 16, same, same);
  add(
    i - 15,
    (x) => ror(x, 7) ^ ror(x, 18) ^ (x >>> 3),
    (x) => xor(turned(x, 7), turned(x, 18), [...x, ...shiftRight(3)]),
  );
  add(i - 7, same, same);
  add(
    i - 2,
    (x) => ror(x, 17) ^ ror(x, 19) ^ (x >>> 10),
    (x) => xor(turned(x, 17), turned(x, 19), [...x, ...shiftRight(10)]),
  );
  const [first, ...rest] = terms;
  const constantTerm = known === 0 ? [] : [...constant(known), ADD];
  return [...first!, ...rest.flatMap((term) => [...term, ADD]), ...constantTerm, ...set(word(i))];
}

function choose(e: Code, f: Code, g: Code): Code {
  return [...f, ...g, XOR, ...e, AND, ...g, XOR];
}

function majority(a: Code, b: Code, c: Code): Code {
  return [...a, ...b, XOR, ...c, AND, ...a, ...b, AND, XOR];
}

function xor(x: Code, y: Code, z: Code): Code {
  return [...x, ...y, XOR, ...z, XOR];
}

function turned(x: Code, bits: number): Code {
  return [...x, ...rotateRight(bits)];
}

function ror(x: number, bits: number): number {
  return (x >>> bits) | (x << (32 - bits));
}

/** The constants of SHA-256: the first 32 bits of the fractions of the square and cube roots of the first primes. */
function fractionsOfPrimeRoots(): [initial: number[], steps: number[]] {
  const primes: number[] = [];
  for (let n = 2; primes.length < STEPS; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  const fraction = (root: number): number => ((root - Math.floor(root)) * 2 ** 32) | 0;
  return [primes.slice(0, WORDS).map((prime) => fraction(Math.sqrt(prime))), primes.map((prime) => fraction(Math.cbrt(prime)))];
}
