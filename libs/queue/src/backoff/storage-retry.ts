import { backoffDelayMs, hasCode, type BackoffBounds, type ErrorCode } from '@orchd/storage';

/** With its jitter at most a second: a storage that comes back is used at once, one that is down is not hammered. */
const BOUNDS: BackoffBounds = { baseMs: 10, capMs: 666 };

/** Refusals that time may cure. A repeated settle is safe (R4), whether or not the first one arrived. */
const CURABLE: readonly ErrorCode[] = ['storage_unavailable', 'storage_full', 'storage_slow', 'storage_busy', 'outcome_unknown'];

/** Ms before the try after the n-th failure in a row of a call to the storage. */
export function storageRetryMs(n: number, random: () => number): number {
  return backoffDelayMs(BOUNDS, n, random);
}

export function isCurable(error: unknown): boolean {
  return CURABLE.some((code) => hasCode(error, code));
}
