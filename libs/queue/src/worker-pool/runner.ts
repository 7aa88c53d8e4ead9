import type { Delivery } from './delivery.js';

/** One way to run handlers. The pool judges deliveries the same way whatever runs them. */
export interface Runner {
  /**
   * Enters the handler, now or when there is room for it, and calls `delivery.enter()` as it does: from then on silence counts, and the
   * time limit runs. The value or promise returned, or what is thrown, is the outcome of the delivery; {@link TERMINATED} is none.
   */
  run(delivery: Delivery): unknown;
  /** The delivery is over before its handler is, and its signal has fired: end the work, where this way of running can. */
  terminate(delivery: Delivery): void;
}

/** What `run` resolves with when a terminated handler is gone without a word: there is nothing to tell the storage. */
export const TERMINATED = Symbol('terminated');

/** A handler's result that is JSON already; null for none. */
export class ResultText {
  constructor(readonly text: string | null) {}
}

/** What `run` rejects with when the thread or process of a handler ended with the job: an attempt, code `crashed` (R5). */
export class HandlerCrashed extends Error {
  override readonly name = 'HandlerCrashed';
}

/** What `run` rejects with when a handler cannot be entered at all. */
export class HandlerUnavailable extends Error {
  override readonly name = 'HandlerUnavailable';

  constructor(
    reason: string,
    /** Another try makes no sense before. */
    readonly retryInMs: number,
  ) {
    super(reason);
  }
}
