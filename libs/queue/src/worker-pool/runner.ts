import type { Delivery } from './delivery.js';

/** One way to run handlers. The pool judges deliveries the same way whatever runs them. */
export interface Runner {
  /**
   * Enters the handler, and calls `delivery.beat()` as it does: from then on silence counts. The value or promise returned, or what is
   * thrown, is the outcome of the delivery.
   */
  run(delivery: Delivery): unknown;
  /** The delivery is over before its handler is, and its signal has fired: end the work, where this way of running can. */
  terminate(delivery: Delivery): void;
}
