import { createHash } from 'node:crypto';
import { chainModule } from './sha256-module.js';

const WORDS = 8;

/** As much of it as is used here: @types/node has it not, and the types of the browser are not wanted. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (module: object) => { readonly exports: ChainExports };
};

interface ChainExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly advance: (rounds: number) => void;
}

/**
 * SHA-256 of SHA-256 of ... of a seed. Why not node:crypto: a call of it costs ten times what hashing 32 bytes takes, and makes a Buffer.
 * Here a whole slice of the chain is one call into WebAssembly, which allocates nothing (`npm run bench -- cpu --only ways` compares them).
 */
export class Sha256Chain {
  readonly #advance: (rounds: number) => void;
  readonly #words: DataView;

  constructor() {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(chainModule()));
    this.#advance = exports.advance;
    this.#words = new DataView(exports.memory.buffer);
  }

  /** The first round: the digest of the seed. */
  begin(seed: string): void {
    const digest = createHash('sha256').update(seed, 'utf8').digest();
    for (let i = 0; i < WORDS; i++) this.#words.setUint32(4 * i, digest.readUInt32BE(4 * i), true);
  }

  /** So many more rounds, at least one. */
  advance(rounds: number): void {
    this.#advance(rounds);
  }

  digest(): string {
    const digest = Buffer.alloc(4 * WORDS);
    for (let i = 0; i < WORDS; i++) digest.writeUInt32BE(this.#words.getUint32(4 * i, true), 4 * i);
    return digest.toString('hex');
  }
}
