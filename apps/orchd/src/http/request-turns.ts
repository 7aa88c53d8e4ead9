/** Enough to fill a batch of the log in a few turns, few enough that a turn stays short. */
const REQUESTS_PER_TURN = 4;

/**
 * Lets a few requests in with each turn of the event loop. Without it a burst of requests, which the system hands over all at once, would be
 * worked off in one turn, and every job that ends or begins meanwhile would wait for the last of them.
 */
export class RequestTurns {
  readonly #waiting: (() => void)[] = [];
  #left = REQUESTS_PER_TURN;
  #turnEnds = false;

  /** Calls `enter` now, or in a later turn, in the order of the calls. */
  take(enter: () => void): void {
    this.#endTurnLater();
    if (this.#left > 0 && this.#waiting.length === 0) {
      this.#left--;
      enter();
    } else this.#waiting.push(enter);
  }

  #endTurnLater(): void {
    if (this.#turnEnds) return;
    this.#turnEnds = true;
    setImmediate(() => {
      this.#turnEnds = false;
      const next = this.#waiting.splice(0, REQUESTS_PER_TURN);
      this.#left = REQUESTS_PER_TURN - next.length;
      if (next.length > 0) this.#endTurnLater();
      for (const enter of next) enter();
    });
  }
}
