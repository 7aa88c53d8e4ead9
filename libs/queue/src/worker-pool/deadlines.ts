import type { Clock } from '@orchd/storage';
import type { Workers } from './workers.js';

/** Ends deliveries whose time is over (time-out, cancel), with one timer for all of them, set to the earliest. */
export class Deadlines {
  #nextMs = Infinity;
  #cancelTimer: (() => void) | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly workers: () => Workers,
  ) {}

  watch(atMs: number): void {
    if (atMs >= this.#nextMs) return;
    this.stop();
    this.#nextMs = atMs;
    this.#cancelTimer = this.clock.setTimer(atMs - this.clock.monoMs(), this.#look);
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#nextMs = Infinity;
  }

  readonly #look = (): void => {
    this.stop();
    const nowMs = this.clock.monoMs();
    let nextMs = Infinity;
    for (const worker of this.workers().busy()) {
      const { endAtMs, endReason } = worker.delivery!;
      if (endAtMs <= nowMs) this.workers().end(worker, endReason);
      else nextMs = Math.min(nextMs, endAtMs);
    }
    // Also when the timer was clamped or came early: then nothing was due, and it is set again.
    if (nextMs < Infinity) this.watch(nextMs);
  };
}
