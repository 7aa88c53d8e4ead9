/** The same numbers for the same seed, so that a failed run can be run again. The generator is mulberry32. */
export class SeededRandom {
  #state: number;

  constructor(readonly seed: number) {
    this.#state = seed >>> 0;
  }

  /** Uniform in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<T>(items: readonly T[]): T {
    return items[this.between(0, items.length - 1)]!;
  }
}

/** Runs a random test: what it throws names the seed. `ORCHD_TEST_SEED` repeats a run as far as its randomness goes. */
export async function seeded(test: (random: SeededRandom) => Promise<void>): Promise<void> {
  const seed = Number(process.env.ORCHD_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));
  try {
    await test(new SeededRandom(seed));
  } catch (thrown) {
    // Not asked for `instanceof Error`: what Node itself throws is of another realm than a test file.
    const error = thrown as Error;
    const name = `seed ${seed} (ORCHD_TEST_SEED): `;
    throw Object.assign(error, { message: name + error.message, stack: name + error.stack });
  }
}
