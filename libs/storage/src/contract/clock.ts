/** Time as it is injected everywhere: a wall clock for instants, a monotonic one for durations, and one way to be called later. */
export interface Clock {
  /** Epoch ms, an integer; may jump. */
  wallMs(): number;
  /** Ms since an arbitrary point, never goes back, fractions allowed. */
  monoMs(): number;
  /** Calls back once, not before `ms` have passed; never keeps the process alive. Returns the cancel function. */
  setTimer(ms: number, callback: () => void): () => void;
}

/** Node fires a longer timer after 1 ms (case D01), so nothing here sets one; callers look again when it fires. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monoMs: () => performance.now(),
  setTimer(ms, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, Math.ceil(ms)), MAX_TIMER_MS));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
