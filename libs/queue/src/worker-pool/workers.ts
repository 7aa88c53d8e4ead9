import type { JobRecord, Lease } from '@orchd/storage';
import type { DeliveryEndReason } from '../handler/handler.js';
import type { HandlerRegistry } from '../handler/handler.registry.js';
import { Delivery } from './delivery.js';
import type { PoolCounters } from './pool-counters.js';
import type { PoolSettings } from './pool-options.js';
import { HandlerCrashed, TERMINATED, type Runner } from './runner.js';
import type { Settler } from './settler.js';
import { Worker } from './worker.js';

/** A handler whose job is cancelled gets so long to come back by itself. */
const CANCEL_GRACE_MS = 1000;
/** Within that second a thread or process is not only given up but gone, so it is begun with earlier. */
const ENDING_MS = 100;

/** Told at once, in the same turn. */
export interface WorkersListener {
  /** A worker of this queue is free. */
  freed(queue: string): void;
  /** A delivery has to be ended at this instant (monotonic ms) if it still runs. */
  deadline(atMs: number): void;
}

/**
 * All workers of the process. Invariant: each queue has exactly as many slots as configured. A worker taken off its job (hung, timed out,
 * cancelled, lease lost) loses its slot to a new one in the same turn; its handler's late outcome is still sent to the storage, with the
 * old epoch, which refuses it.
 */
export class Workers {
  readonly #slots: Worker[] = [];
  readonly #idle = new Map<string, Worker[]>();
  #made = 0;

  constructor(
    private readonly settings: PoolSettings,
    private readonly registry: HandlerRegistry,
    private readonly runner: Runner,
    private readonly settler: Settler,
    private readonly counters: PoolCounters,
    private readonly listener: WorkersListener,
  ) {
    for (const [queue, size] of settings.queues) {
      const workers = Array.from({ length: size }, () => this.#hire(queue));
      this.#slots.push(...workers);
      this.#idle.set(queue, workers.slice());
    }
  }

  get size(): number {
    return this.#slots.length;
  }

  free(queue: string): number {
    return this.#idle.get(queue)!.length;
  }

  /** Workers whose handler runs, in the order of their slots; the abandoned ones are not among them. */
  busy(): Worker[] {
    return this.#slots.filter((worker) => worker.state === 'busy');
  }

  /** The workers as the slots hold them. */
  all(): readonly Worker[] {
    return this.#slots;
  }

  begin(job: JobRecord, leaseUntilMs: number): void {
    const handler = this.registry.get(job.type);
    if (!handler) return this.settler.noHandler(job);
    const worker = this.#idle.get(job.queue)?.pop();
    // More than was asked for, or a foreign queue: not ours to keep.
    if (!worker) return this.settler.release(job);
    const { heartbeatTimeoutMs = this.settings.heartbeatTimeoutMs, timeoutMs = 0 } = handler.options;
    const entered = job.timeoutMs || timeoutMs ? this.#limitTime : null;
    worker.begin(new Delivery(job, handler, heartbeatTimeoutMs, leaseUntilMs, this.settings.clock, entered));
  }

  /** Ends the delivery of a busy worker in the storage and takes the worker off it. The handler's signal fires first. */
  end(worker: Worker, reason: DeliveryEndReason): void {
    const { delivery } = worker;
    if (worker.state !== 'busy' || !delivery) return;
    const last = reason === 'shutdown';
    worker.abandon(last ? 'stopped' : 'hung');
    this.counters.zombies++;
    delivery.abort(reason);
    this.runner.terminate(delivery);
    if (!last) this.#replace(worker);
    this.#settle(delivery, reason);
  }

  /** The signal fires; a handler that does not come back is ended a second later. Later calls change nothing. */
  cancel(lease: Lease): void {
    for (const { state, delivery } of this.#slots) {
      if (state !== 'busy' || delivery?.job.id !== lease.id || delivery.job.epoch !== lease.epoch || delivery.cancelRequested) continue;
      delivery.cancelRequested = true;
      const graceMs = delivery.handler.runIn === 'inline' ? CANCEL_GRACE_MS : CANCEL_GRACE_MS - ENDING_MS;
      delivery.endAt(this.settings.clock.monoMs() + graceMs, 'cancelled');
      this.listener.deadline(delivery.endAtMs);
      delivery.abort('cancelled');
    }
  }

  /** A handler with a time limit was entered. */
  readonly #limitTime = (delivery: Delivery): void => {
    const limitMs = delivery.job.timeoutMs || delivery.handler.options.timeoutMs!;
    delivery.endAt(this.settings.clock.monoMs() + limitMs, 'timeout');
    this.listener.deadline(delivery.endAtMs);
  };

  /** Its thread or process is dead: the slot's next worker gets a new one. */
  #bury(worker: Worker): void {
    worker.abandon('stopped');
    this.#replace(worker);
  }

  #replace(worker: Worker): void {
    this.counters.replaced++;
    const replacement = this.#hire(worker.queue);
    this.#slots[this.#slots.indexOf(worker)] = replacement;
    this.#free(replacement);
  }

  #settle(delivery: Delivery, reason: DeliveryEndReason): void {
    switch (reason) {
      case 'hung':
        return this.settler.requeue(delivery);
      case 'timeout':
        return this.settler.timeOut(delivery);
      case 'cancelled':
      case 'shutdown':
        return this.settler.release(delivery.job);
      case 'lease_lost':
        return; // Somebody else has it.
    }
  }

  readonly #finished = (worker: Worker, delivery: Delivery, returned: boolean, value: unknown): void => {
    if (worker.state !== 'idle') this.counters.zombies--;
    else if (value instanceof HandlerCrashed) this.#bury(worker);
    else this.#free(worker);
    if (value !== TERMINATED) this.settler.finish(delivery, returned, value);
  };

  #hire(queue: string): Worker {
    return new Worker(`${queue}-${++this.#made}`, queue, this.runner, this.#finished);
  }

  /**
   * Before the settle, not after it: both are put off to the end of the turn, and a storage that writes what it has by then should have
   * the next claim already. Otherwise that claim waits for a whole flush.
   */
  #free(worker: Worker): void {
    this.#idle.get(worker.queue)!.push(worker);
    this.listener.freed(worker.queue);
  }
}
