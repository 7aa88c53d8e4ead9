const BASE_MS = 10;
const CAP_MS = 250;

/**
 * Pause before a request is repeated. The server's own wish (`Retry-After`, seconds or a date) is kept, but never as no
 * pause at all; without one the pause doubles from 10 ms to 250 ms, plus a random 0..50 % of it, so that the clients of a restarted server
 * come back apart from each other.
 *
 * `failures` counts from 1; `random` is 0..1; `wallClockMs` is the epoch time that a date is compared with.
 */
export function repeatDelayMs(failures: number, retryAfter: string | undefined, random: number, wallClockMs: number): number {
  const asked = retryAfter === undefined ? NaN : readRetryAfter(retryAfter.trim(), wallClockMs);
  if (!Number.isNaN(asked)) return Math.max(BASE_MS, asked);
  const delay = Math.min(CAP_MS, BASE_MS * 2 ** (failures - 1));
  return delay + delay * 0.5 * random;
}

function readRetryAfter(text: string, wallClockMs: number): number {
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  return Date.parse(text) - wallClockMs;
}
