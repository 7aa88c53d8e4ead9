import type { BackoffBounds } from './job-record.js';

/** Base 10 ms, cap 60 s: the defaults of R5. */
export const DEFAULT_BACKOFF: BackoffBounds = Object.freeze({ baseMs: 10, capMs: 60_000 });

/**
 * Delay in ms before delivery n+1, after n failures (or n requeues): min(cap, base * 2^(n-1)), plus a random 0..50 % of it. The jitter
 * is added at the cap too, so that jobs which failed together do not come back together for ever (case D10).
 *
 * @param random uniform in [0, 1)
 */
export function backoffDelayMs(bounds: BackoffBounds, n: number, random: () => number): number {
  const exponential = Math.min(bounds.capMs, bounds.baseMs * 2 ** Math.min(n - 1, 64));
  return Math.round(exponential * (1 + random() / 2));
}
