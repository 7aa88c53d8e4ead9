import { backoffDelayMs, hasCode, LIMITS, type JobError, type JobRecord, type StorageAdapter } from '@orchd/storage';
import { isCurable, storageRetryMs } from '../backoff/storage-retry.js';
import { verdictOf } from '../handler/verdict.js';
import { inWords } from '../maintenance/log.js';
import type { Delivery } from './delivery.js';
import { failureText } from './failure-text.js';
import { isDeeperThan } from './json-depth.js';
import type { PoolCounters } from './pool-counters.js';
import type { PoolSettings } from './pool-options.js';
import { HandlerCrashed, HandlerUnavailable, ResultText } from './runner.js';

/** A type nobody here can run is not asked for again at once. */
const NO_HANDLER_MIN_MS = 1000;
/** Far below what the stack of a reader's `JSON.parse` and `JSON.stringify` holds. */
const MAX_RESULT_DEPTH = 1000;

/** One verb on its way to the storage, repeated until it is answered. */
interface Settlement {
  readonly job: JobRecord;
  readonly send: () => Promise<void>;
  readonly settled: (() => void) | null;
  /** The delivery was cancelled: a success is answered `lease_lost` and nothing about that is stale. */
  readonly cancelled: boolean;
  /** Stands for one that the storage could not take as it was. */
  readonly isSubstitute: boolean;
  giveUpAtMs: number;
  failures: number;
}

/**
 * Ends deliveries in the storage. Nobody waits for it: the worker goes on with its next job at once. A settle the storage could not take
 * is repeated, for it is the only thing that ends an active job of a storage that is not shared; where leases expire by themselves it is
 * given up with the lease. A lost lease is normal life: counted, and the end of it.
 */
export class Settler {
  #pending = 0;
  #closed = false;
  readonly #retries = new Set<() => void>();

  constructor(
    private readonly storage: StorageAdapter,
    private readonly settings: PoolSettings,
    private readonly counters: PoolCounters,
    /** Called whenever the last pending settle was answered or given up. */
    private readonly drained: () => void,
  ) {}

  /** Settles not yet answered. */
  get pending(): number {
    return this.#pending;
  }

  /** The handler came back. */
  finish(delivery: Delivery, returned: boolean, value: unknown): void {
    this.#tellNotes(delivery);
    if (returned) this.#succeed(delivery, value);
    else this.#fail(delivery, value);
  }

  timeOut(delivery: Delivery): void {
    this.#tellNotes(delivery);
    this.#retry(delivery, {
      code: 'timeout',
      message: `took longer than ${delivery.job.timeoutMs || delivery.handler.options.timeoutMs} ms`,
    });
  }

  /** The worker is silent: the job goes to another one. */
  requeue(delivery: Delivery): void {
    this.#tellNotes(delivery);
    const requeued = (): void => void this.counters.requeued++;
    this.#settle(delivery.job, false, () => this.storage.requeue(delivery.job, 'hung'), requeued);
  }

  /** Untouched, no attempt charged. */
  release(job: JobRecord, inMs = 0): void {
    this.#settle(job, false, () => this.storage.release(job, { inMs }));
  }

  noHandler(job: JobRecord): void {
    const delayMs = Math.max(NO_HANDLER_MIN_MS, this.#backoffMs(job));
    this.#nack(job, { code: 'no_handler', message: `no handler for type '${job.type}' in this process` }, delayMs, false);
  }

  /** Stops repeating. What was not answered by now is left to the lease, or to the next start. */
  close(): void {
    this.#closed = true;
    for (const cancel of this.#retries) cancel();
    this.#retries.clear();
  }

  #succeed(delivery: Delivery, value: unknown): void {
    const { job } = delivery;
    let result: string | null = null;
    if (value instanceof ResultText) result = value.text;
    else if (value !== undefined) {
      const text = jsonText(value);
      if (text === undefined) return this.#retry(delivery, { code: 'failed', message: 'result not serialisable' });
      if (text.length > LIMITS.text)
        return this.#retry(delivery, { code: 'failed', message: `result longer than ${LIMITS.text} characters` });
      result = text;
    }
    if (result !== null && isDeeperThan(MAX_RESULT_DEPTH, result)) {
      return this.#retry(delivery, { code: 'failed', message: `result deeper than ${MAX_RESULT_DEPTH} levels` });
    }
    this.#settle(job, delivery.cancelRequested, () => this.storage.ack(job, result));
  }

  #fail(delivery: Delivery, thrown: unknown): void {
    const { job } = delivery;
    if (thrown instanceof HandlerUnavailable) return this.#retry(delivery, { code: 'failed', message: thrown.message }, thrown.retryInMs);
    if (thrown instanceof HandlerCrashed) return this.#retry(delivery, { code: 'crashed', message: thrown.message });
    const verdict = verdictOf(thrown);
    if (verdict?.verb === 'snooze') return this.release(job, verdict.inMs);
    const message = failureText(thrown, LIMITS.errorMessage);
    if (verdict?.verb !== 'discard') return this.#retry(delivery, { code: 'failed', message });
    this.#settle(job, false, () => this.storage.nack(job, { code: 'discarded', message }, { dead: true }));
  }

  #retry(delivery: Delivery, error: JobError, minDelayMs = 0): void {
    this.#nack(delivery.job, error, Math.max(minDelayMs, this.#backoffMs(delivery.job)), delivery.cancelRequested);
  }

  #nack(job: JobRecord, error: JobError, retryInMs: number, cancelled: boolean, isSubstitute = false): void {
    const another = job.attempts + 1 < job.maxAttempts && !cancelled;
    const settled = (): void => {
      if (another) this.counters.retried++;
      else if (!cancelled) this.settings.log.warn(`job ${job.id} (${job.type}) is dead: ${error.code}: ${error.message}`);
    };
    this.#settle(job, cancelled, () => this.storage.nack(job, error, { retryInMs }), settled, isSubstitute);
  }

  /** Charged for the failure that just happened: attempt n failed, so the delay is the one before n + 1 (R5). */
  #backoffMs(job: JobRecord): number {
    return backoffDelayMs(job.backoff, job.attempts + 1, this.settings.random);
  }

  /** In the same turn as the verb that ends the delivery, and before it, so that the last words are kept. */
  #tellNotes({ job, notes }: Delivery): void {
    if (notes === null || notes.empty) return;
    this.storage.extend([{ lease: job, ...notes.take() }], this.settings.leaseMs).catch((error: unknown) => {
      this.settings.log.debug(`notes of job ${job.id} were lost: ${inWords(error)}`);
    });
  }

  #settle(job: JobRecord, cancelled: boolean, send: () => Promise<void>, settled: (() => void) | null = null, isSubstitute = false): void {
    this.#pending++;
    this.#send({ job, send, settled, cancelled, isSubstitute, giveUpAtMs: 0, failures: 0 });
  }

  #send(settlement: Settlement): void {
    settlement.send().then(
      () => {
        settlement.settled?.();
        this.#done();
      },
      (error: unknown) => this.#refused(settlement, error),
    );
  }

  #refused(settlement: Settlement, error: unknown): void {
    const { job, cancelled } = settlement;
    const { log, clock, random } = this.settings;
    if (hasCode(error, 'lease_lost')) {
      if (!cancelled) {
        this.counters.staleRejected++;
        log.debug(`the late result of job ${job.id}, epoch ${job.epoch}, was refused`);
      }
      return this.#done();
    }
    if (hasCode(error, 'invalid_argument') && !settlement.isSubstitute) {
      // The storage will never take it as it is, and the job must not stay active for that.
      this.#nack(job, { code: 'failed', message: `its end could not be kept: ${error.message}` }, this.#backoffMs(job), cancelled, true);
      return this.#done();
    }
    const nowMs = clock.monoMs();
    if (settlement.failures++ === 0) {
      log.warn(`the end of job ${job.id} is not known to the storage: ${inWords(error)}`);
      settlement.giveUpAtMs = this.storage.capabilities.shared ? nowMs + this.settings.leaseMs : Infinity;
    }
    if (this.#closed || !isCurable(error) || nowMs >= settlement.giveUpAtMs) {
      log.error(`the end of job ${job.id} was given up after ${settlement.failures} tries: ${inWords(error)}`);
      return this.#done();
    }
    const cancel = clock.setTimer(storageRetryMs(settlement.failures, random), () => {
      this.#retries.delete(cancel);
      this.#send(settlement);
    });
    this.#retries.add(cancel);
  }

  #done(): void {
    if (--this.#pending === 0) this.drained();
  }
}

/** Undefined for what JSON cannot say: functions, symbols, BigInts, circles, a `toJSON` that throws. */
function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
