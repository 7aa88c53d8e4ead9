/**
 * Calls on their way over one connection. Redis answers all that it has read together, after the last of it: with one call under way and
 * one behind it, it has work while the answers to the one before are read, and more would only be answered later.
 */
const MOST = 2;
/** Where each answer waits for a sync, what is answered together shares one. */
const MOST_SYNCED = 6;

/** Sends one call. */
type Send = () => Promise<unknown>;

/** Bounds the calls of several lanes; whoever waits for room is let in in the order of asking. */
export class CallWindow {
  readonly #synced: () => boolean;
  readonly #waiting: Send[] = [];
  #inFlight = 0;

  /** @param synced whether Redis syncs what it has done before it answers */
  constructor(synced: () => boolean) {
    this.#synced = synced;
  }

  /** Whether the call that is about to be sent should leave some of its work to a second one beside it. */
  get wantsTwo(): boolean {
    return this.#inFlight === 1 && !this.#synced();
  }

  /** `send` is called when there is room, perhaps at once; it calls `leave` when it is answered. */
  enter(send: Send): void {
    this.#waiting.push(send);
    this.#admit();
  }

  leave(): void {
    this.#inFlight--;
    this.#admit();
  }

  #admit(): void {
    while (this.#waiting.length > 0 && this.#inFlight < (this.#synced() ? MOST_SYNCED : MOST)) {
      this.#inFlight++;
      void this.#waiting.shift()!();
    }
  }
}
