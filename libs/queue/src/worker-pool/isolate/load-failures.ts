import type { Clock } from '@orchd/storage';
import { HandlerUnavailable } from '../runner.js';

const FIRST_MS = 250;
const LONGEST_MS = 30_000;

/**
 * Handlers whose module could not be loaded (case H12). They are tried again after a time that doubles; until then a delivery fails at once,
 * with the reason, instead of starting a thread or holding up its slot.
 */
export class LoadFailures {
  readonly #proven = new Set<string>();
  readonly #failures = new Map<string, { times: number; untilMs: number; reason: string }>();

  constructor(private readonly clock: Clock) {}

  /** What to answer a delivery with while its handler is not to be tried. */
  current(type: string): HandlerUnavailable | null {
    const failure = this.#failures.get(type);
    const restMs = failure ? Math.ceil(failure.untilMs - this.clock.monoMs()) : 0;
    return restMs > 0 ? new HandlerUnavailable(failure!.reason, restMs) : null;
  }

  /** Its module was loaded the last time, so it is likely to be again: it may be loaded by many at once. */
  isProven(type: string): boolean {
    return this.#proven.has(type);
  }

  add(type: string, why: string): HandlerUnavailable {
    const times = (this.#failures.get(type)?.times ?? 0) + 1;
    const delayMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** (times - 1));
    const reason = `the handler's module could not be loaded: ${why}`;
    this.#proven.delete(type);
    this.#failures.set(type, { times, untilMs: this.clock.monoMs() + delayMs, reason });
    return new HandlerUnavailable(reason, delayMs);
  }

  loaded(type: string): void {
    this.#proven.add(type);
    this.#failures.delete(type);
  }
}
