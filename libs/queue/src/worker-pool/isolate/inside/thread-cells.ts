import type { DeliveryEndReason } from '../../../handler/handler.js';

/*
 * What a thread and the pool tell each other past their event loops, in shared memory: a loop that never awaits can beat, and can learn
 * that its delivery is over.
 */
const BEAT = 0;
const ABORT = 1;
const TASK = 2;
const CELLS = 3;

/** Until the handler is entered. */
const NOT_ENTERED = 0;

const REASONS: readonly (DeliveryEndReason | null)[] = [null, 'cancelled', 'timeout', 'hung', 'lease_lost', 'shutdown'];

/**
 * The beat is a time: the low 32 bits of the monotonic clock that all threads of a machine share, in ms. It wraps after 49 days, so
 * only its age is ever used, which is right up to 24 days.
 */
export class ThreadCells {
  readonly #cells: Int32Array;

  constructor(readonly memory: SharedArrayBuffer = new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT)) {
    this.#cells = new Int32Array(memory);
  }

  /** By the pool, before each job. */
  reset(): void {
    Atomics.store(this.#cells, ABORT, 0);
    Atomics.store(this.#cells, BEAT, NOT_ENTERED);
  }

  beat(): void {
    Atomics.store(this.#cells, BEAT, this.#now() || 1);
  }

  /** Ms since the last beat; -Infinity while the handler is not entered, since nobody can be silent before. */
  ageMs(): number {
    const beat = Atomics.load(this.#cells, BEAT);
    return beat === NOT_ENTERED ? -Infinity : (this.#now() - beat) | 0;
  }

  abort(reason: DeliveryEndReason): void {
    Atomics.store(this.#cells, ABORT, REASONS.indexOf(reason));
  }

  abortReason(): DeliveryEndReason | null {
    return REASONS[Atomics.load(this.#cells, ABORT)] ?? null;
  }

  /** By the thread, as it starts: how the system calls it. */
  tellTaskId(id: number): void {
    Atomics.store(this.#cells, TASK, id);
  }

  /** 0 until it is told, and where it is not known. */
  taskId(): number {
    return Atomics.load(this.#cells, TASK);
  }

  #now(): number {
    return (performance.now() + SHIFT_MS) | 0;
  }
}

/**
 * From this thread's `performance.now()`, which is cheap, to the clock that all threads share. Between two looks at clocks a thread may lose
 * its core, or load what a clock is made of: of some tries the quickest one counts.
 */
function shiftMs(): number {
  let best = { tookMs: Infinity, shiftMs: 0 };
  for (let i = 0; i < CLOCK_TRIES; i++) {
    const before = performance.now();
    const [seconds, nanoseconds] = process.hrtime();
    const tookMs = performance.now() - before;
    if (tookMs < best.tookMs) best = { tookMs, shiftMs: seconds * 1000 + nanoseconds / 1e6 - before };
  }
  return best.shiftMs;
}

const CLOCK_TRIES = 10;
const SHIFT_MS = shiftMs();
