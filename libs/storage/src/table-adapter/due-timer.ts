import type { Clock } from '../contract/index.js';

/** The wall clock may jump, so a job due at an instant is looked for at least so often. */
const INSTANT_LOOK_MS = 1000;

/** The one timer for the next due job. It may fire early or for nothing; whoever is called looks at the table and arms it again. */
export class DueTimer {
  readonly #clock: Clock;
  readonly #fire: () => void;
  #firesAt = Infinity;
  #cancel: (() => void) | null = null;

  constructor(clock: Clock, fire: () => void) {
    this.#clock = clock;
    this.#fire = fire;
  }

  /** Makes sure that it fires no later than the next due time; costs nothing when it does already. */
  arm(until: { readonly duration: number; readonly instant: number }): void {
    const instant = until.instant === Infinity ? Infinity : Math.min(until.instant, INSTANT_LOOK_MS);
    const ms = Math.max(0, Math.min(until.duration, instant));
    const firesAt = this.#clock.monoMs() + ms;
    if (firesAt >= this.#firesAt) return;
    this.stop();
    this.#firesAt = firesAt;
    this.#cancel = this.#clock.setTimer(ms, () => {
      this.#firesAt = Infinity;
      this.#cancel = null;
      this.#fire();
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#firesAt = Infinity;
  }
}
