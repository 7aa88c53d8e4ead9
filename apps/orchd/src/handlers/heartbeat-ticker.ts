import type { Clock } from '@orchd/storage';

/**
 * One timer that beats for all running jobs of a handler, however many there are. It runs only while somebody is subscribed, and stops
 * at the first tick without a subscriber, so that a stream of short jobs does not start and stop it for each.
 */
export class HeartbeatTicker {
  readonly #beats = new Set<() => void>();
  #ticking = false;

  constructor(
    private readonly clock: Clock,
    private readonly intervalMs: number,
  ) {}

  /** Calls `beat` every interval until the returned function is called. */
  subscribe(beat: () => void): () => void {
    this.#beats.add(beat);
    if (!this.#ticking) {
      this.#ticking = true;
      this.#schedule();
    }
    return () => void this.#beats.delete(beat);
  }

  #schedule(): void {
    this.clock.setTimer(this.intervalMs, () => this.#tick());
  }

  #tick(): void {
    if (this.#beats.size === 0) {
      this.#ticking = false;
      return;
    }
    for (const beat of this.#beats) beat();
    this.#schedule();
  }
}
