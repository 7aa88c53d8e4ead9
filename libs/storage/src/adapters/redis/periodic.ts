import type { Clock } from '../../contract/index.js';

/** Does something again and again, never twice at once: the pause begins when it has ended. What it throws is passed over. */
export class Periodic {
  readonly #clock: Clock;
  readonly #pauseMs: () => number;
  readonly #work: () => Promise<void>;
  #cancel: (() => void) | null = null;
  #running = false;
  #working: Promise<void> = Promise.resolve();

  /** @param pauseMs asked before each pause, so it may change */
  constructor(clock: Clock, pauseMs: () => number, work: () => Promise<void>) {
    this.#clock = clock;
    this.#pauseMs = pauseMs;
    this.#work = work;
  }

  start(): void {
    this.#running = true;
    this.#pause();
  }

  /** Resolves when the work that was going on has ended. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#cancel?.();
    this.#cancel = null;
    await this.#working;
  }

  /** Now, not after the pause. */
  hurry(): void {
    if (this.#cancel === null) return;
    this.#cancel();
    this.#do();
  }

  #pause(): void {
    if (this.#running) this.#cancel = this.#clock.setTimer(this.#pauseMs(), () => this.#do());
  }

  #do(): void {
    this.#cancel = null;
    this.#working = this.#work()
      .catch(() => undefined)
      .then(() => this.#pause());
  }
}
