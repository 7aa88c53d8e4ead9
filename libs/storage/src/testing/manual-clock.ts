import { MAX_TIMER_MS, type Clock } from '../contract/index.js';

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Any instant does; this one is easy to recognise in a failure. */
const START_WALL_MS = Date.UTC(2030, 0, 1);

/**
 * A {@link Clock} that stands still until a test moves it. `advance` moves both hands and fires what falls due on the way, in due order,
 * timers set by those callbacks included; `jumpWall` moves the wall clock alone, as an operator or NTP does.
 */
export class ManualClock implements Clock {
  #mono = 0;
  #wallOffset: number;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(wallMs: number = START_WALL_MS) {
    this.#wallOffset = wallMs;
  }

  /** Timers that wait. After the owner of all timers was closed it is 0, or the owner leaks. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  wallMs(): number {
    return this.#wallOffset + this.#mono;
  }

  monoMs(): number {
    return this.#mono;
  }

  /**
   * Cut and rounded up like the system clock's. Who sets a longer one and does not look again is found out; and a rest that is only a rounding
   * error lets time pass, or its owner would set it for ever.
   */
  setTimer(ms: number, callback: () => void): () => void {
    const timer: Timer = { due: this.#mono + Math.min(Math.max(0, Math.ceil(ms)), MAX_TIMER_MS), order: ++this.#order, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  advance(ms: number): void {
    if (!Number.isSafeInteger(ms) || ms < 0) throw new RangeError(`advance: ${ms} is not a whole number of ms >= 0`);
    const end = this.#mono + ms;
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#timers.delete(timer);
      this.#mono = Math.max(this.#mono, timer.due);
      timer.callback();
    }
    this.#mono = end;
  }

  jumpWall(ms: number): void {
    if (!Number.isSafeInteger(ms)) throw new RangeError(`jumpWall: ${ms} is not a whole number of ms`);
    this.#wallOffset += ms;
  }

  #next(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.due > end) continue;
      if (next === undefined || timer.due < next.due || (timer.due === next.due && timer.order < next.order)) next = timer;
    }
    return next;
  }
}
