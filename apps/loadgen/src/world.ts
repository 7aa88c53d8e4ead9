import { setMaxListeners } from 'node:events';
import { setTimeout as timer } from 'node:timers/promises';

/** Time and chance, handed in. */
export interface World {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
  /** 0 <= random() < 1 */
  readonly random: () => number;
}

export const realWorld: World = {
  now: () => performance.now(),
  wallClock: () => Date.now(),
  random: () => Math.random(),
};

/** The largest delay a timer can hold; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await timer(Math.min(ms, MAX_TIMER_MS), undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** A controller whose signal every client may listen to: as many listeners as clients are no leak. */
export function sharedController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
