import type { Delivery } from './delivery.js';
import type { Runner } from './runner.js';

/** `hung`: taken off its job and replaced, its handler not back yet. `stopped`: will not work again. */
export type WorkerState = 'idle' | 'busy' | 'hung' | 'stopped';

/** One slot's worker. It does one delivery at a time; once it was taken off one (`abandon`) it never does another. */
export class Worker {
  #state: WorkerState = 'idle';
  #delivery: Delivery | null = null;
  // Made once per worker, not once per job.
  readonly #returned = (value: unknown): void => this.#finish(true, value);
  readonly #threw = (value: unknown): void => this.#finish(false, value);

  constructor(
    readonly id: string,
    readonly queue: string,
    private readonly runner: Runner,
    private readonly finished: (worker: Worker, delivery: Delivery, returned: boolean, value: unknown) => void,
  ) {}

  get state(): WorkerState {
    return this.#state;
  }

  /** Invariant: set exactly while a handler runs, abandoned or not. */
  get delivery(): Delivery | null {
    return this.#delivery;
  }

  begin(delivery: Delivery): void {
    this.#state = 'busy';
    this.#delivery = delivery;
    let outcome: unknown;
    try {
      outcome = this.runner.run(delivery);
    } catch (error) {
      this.#threw(error);
      return;
    }
    if (outcome instanceof Promise) outcome.then(this.#returned, this.#threw);
    // Any other object may be a thenable, whose `then` may do anything: a real promise calls back once.
    else if (isObject(outcome)) Promise.resolve(outcome).then(this.#returned, this.#threw);
    else this.#returned(outcome);
  }

  /** Takes the worker off its delivery; its handler may still be running. */
  abandon(state: 'hung' | 'stopped'): void {
    this.#state = state;
  }

  #finish(returned: boolean, value: unknown): void {
    const delivery = this.#delivery!;
    this.#delivery = null;
    if (this.#state === 'busy') this.#state = 'idle';
    else this.#state = 'stopped';
    this.finished(this, delivery, returned, value);
  }
}

function isObject(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
