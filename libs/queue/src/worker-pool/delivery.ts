import type { Clock, JobRecord } from '@orchd/storage';
import { DeliveryEnded, type DeliveryEndReason, type JobContext } from '../handler/handler.js';
import type { RegisteredHandler } from '../handler/handler.registry.js';
import { Notes } from './notes.js';

/** The heart of a handler that beats elsewhere. */
export interface Pulse {
  /** Ms since the last beat; -Infinity until the handler is entered. */
  silentMs(): number;
}

/**
 * One delivery of a job to a worker: the lease, and what the pool's judges go by. Instants are monotonic ms. There is no timer in it: the
 * monitor, the deadlines and the lease keeper look at all deliveries from time to time, so that an ordinary job costs none of them.
 */
export class Delivery {
  /** Where the last sign of life is read when it is not told by `beat`. */
  pulse: Pulse | null = null;
  /** Told when the signal fires, for a handler whose signal is elsewhere. */
  onAbort: ((reason: DeliveryEndReason) => void) | null = null;
  /** Silence is counted from here when it is later than the last beat: the monitor was late itself (R8). */
  graceFromMs = -Infinity;
  /** When the pool ends the delivery, and as what. */
  endAtMs = Infinity;
  endReason: DeliveryEndReason = 'timeout';
  cancelRequested = false;
  /** When the last notes went to the storage. */
  notedAtMs = -Infinity;
  notes: Notes | null = null;
  #beatAtMs = Infinity;
  #ended: DeliveryEnded | null = null;
  #controller: AbortController | null = null;

  constructor(
    readonly job: JobRecord,
    readonly handler: RegisteredHandler,
    readonly heartbeatTimeoutMs: number,
    /** The lease certainly lasts so long. */
    public leaseUntilMs: number,
    private readonly clock: Clock,
    private readonly entered: ((delivery: Delivery) => void) | null = null,
  ) {}

  /** To be called as the handler is entered: silence counts, and a time limit runs, from now on. */
  enter(): void {
    this.beat();
    this.entered?.(this);
  }

  get isEntered(): boolean {
    return this.#beatAtMs < Infinity;
  }

  beat(): void {
    this.#beatAtMs = this.clock.monoMs();
  }

  /** The last sign of life. Until the handler is entered nobody can be silent. */
  get beatAtMs(): number {
    return this.pulse === null ? this.#beatAtMs : this.clock.monoMs() - this.pulse.silentMs();
  }

  isSilent(nowMs: number): boolean {
    return nowMs - Math.max(this.beatAtMs, this.graceFromMs) > this.heartbeatTimeoutMs;
  }

  /** Costly, so it is made only for a handler that looks at it. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#ended) this.#controller.abort(this.#ended);
    }
    return this.#controller.signal;
  }

  get isAborted(): boolean {
    return this.#ended !== null;
  }

  /** The first reason stays. */
  abort(reason: DeliveryEndReason): void {
    if (this.#ended) return;
    this.#ended = new DeliveryEnded(reason);
    this.#controller?.abort(this.#ended);
    this.onAbort?.(reason);
  }

  endAt(atMs: number, reason: DeliveryEndReason): void {
    if (atMs >= this.endAtMs) return;
    this.endAtMs = atMs;
    this.endReason = reason;
  }
}

/** What the handler sees of its delivery. */
export class DeliveryContext implements JobContext {
  readonly #delivery: Delivery;

  constructor(delivery: Delivery) {
    this.#delivery = delivery;
  }

  get signal(): AbortSignal {
    return this.#delivery.signal;
  }

  get epoch(): number {
    return this.#delivery.job.epoch;
  }

  get attempt(): number {
    return this.#delivery.job.attempts + 1;
  }

  heartbeat(): void {
    this.#delivery.beat();
  }

  progress(percent: number, note?: string): void {
    this.#delivery.beat();
    (this.#delivery.notes ??= new Notes()).progress(percent, note);
  }

  log(line: string): void {
    this.#delivery.beat();
    (this.#delivery.notes ??= new Notes()).log(line);
  }
}
