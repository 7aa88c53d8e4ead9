import {
  checkClaim,
  checkEnqueue,
  checkError,
  checkExtend,
  checkId,
  checkLease,
  checkList,
  checkNack,
  checkPrune,
  checkReason,
  checkText,
} from './arguments.js';
import { checkDuration, checkLimit } from './arguments.js';
import { MAX_TIMER_MS } from './clock.js';
import { OrchdError } from './errors.js';
import { LIMITS, type JobError, type JobRecord, type Lease } from './job-record.js';
import type {
  CheckedJob,
  ClaimRequest,
  EnqueueOutcome,
  ExtendOutcome,
  ExtendRequest,
  JobCounts,
  JobPage,
  ListQuery,
  NackDisposition,
  NewJob,
  PrunePolicy,
  RequeueReason,
  StorageCapabilities,
  StorageEvent,
  StorageHealth,
  StorageState,
} from './storage-types.js';

/**
 * The contract between orchd and a place where jobs are kept: type, injection token, argument checks and the open/close state machine in
 * one. Public methods check and delegate to their protected `do...` twin, which an adapter writes and which may trust its arguments.
 *
 * Every promise may reject with an {@link OrchdError}: `invalid_argument` (nothing was done), `not_open`, `storage_unavailable`,
 * `storage_full`, `storage_busy` (refused, nothing was and will be done) or `outcome_unknown` (handed over, no answer: repeat the call,
 * with the same id or key). Further codes stand at each method. The rules R1-R16 that bind all adapters are in this package's README.
 */
export abstract class StorageAdapter {
  abstract readonly capabilities: StorageCapabilities;

  #state: StorageState = 'closed';
  #opening: Promise<void> | null = null;
  #closing: Promise<void> | null = null;
  readonly #listeners = new Set<(event: StorageEvent) => void>();

  /** Resolves when jobs can be enqueued and claimed. Idempotent. Rejects `storage_locked`, `storage_damaged`, `storage_migrated`, `storage_unavailable`. */
  open(): Promise<void> {
    if (this.#closing) return this.#closing.then(() => this.open());
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** Resolves when everything acknowledged is safe and every resource is free. Idempotent, also before open and during it. */
  close(): Promise<void> {
    if (!this.#opening) return this.#closing ?? Promise.resolve();
    this.#closing ??= this.#close(this.#opening);
    return this.#closing;
  }

  /** A cheap snapshot, never a blocking call. */
  abstract health(): StorageHealth;

  /** Resolves when all of the jobs, in the given order, are durable in the declared class; all or none (R12). Rejects `conflict`. */
  enqueue(jobs: readonly NewJob[]): Promise<EnqueueOutcome[]> {
    return this.call(() => this.doEnqueue(checkEnqueue(jobs)));
  }

  /**
   * Takes ready jobs, highest priority first, at most `limit`. Waits up to `waitMs` for a first one; [] after that or after an abort (what
   * arrives later is released by the adapter). Resolves when the claim would survive kill -9 of this process, where the class has that.
   */
  claim(request: ClaimRequest): Promise<JobRecord[]> {
    return this.call(() => (checkClaim(request), this.doClaim(request)));
  }

  /** Prolongs leases, one outcome per request, in order. Progress and log notes are kept un-synced, at most one write a second and job. */
  extend(requests: readonly ExtendRequest[], leaseMs: number): Promise<ExtendOutcome[]> {
    return this.call(() => (checkExtend(requests, leaseMs), this.doExtend(requests, leaseMs)));
  }

  /** The delivery succeeded. Resolves when durable. Rejects `lease_lost`. The same call again succeeds (R4). */
  ack(lease: Lease, result: string | null = null): Promise<void> {
    return this.call(() => (checkLease(lease), result === null || checkText('result', result), this.doAck(lease, result)));
  }

  /** The delivery failed: one attempt is charged; the last one makes the job dead. Resolves when durable. Rejects `lease_lost`. */
  nack(lease: Lease, error: JobError, disposition: NackDisposition): Promise<void> {
    return this.call(() => (checkLease(lease), checkNack(disposition), this.doNack(lease, checkError(error), disposition)));
  }

  /** Gives the job back untouched, for now or for `inMs` later; no attempt is charged. Rejects `lease_lost`. */
  release(lease: Lease, options: { inMs?: number } = {}): Promise<void> {
    const inMs = options.inMs ?? 0;
    return this.call(() => (checkLease(lease), checkDuration('inMs', inMs), this.doRelease(lease, inMs)));
  }

  /** Takes the job away from its silent worker: epoch + 1, ready again, from the third time on after a backoff (R6). Rejects `lease_lost`. */
  requeue(lease: Lease, reason: RequeueReason): Promise<void> {
    return this.call(() => (checkLease(lease), checkReason(reason), this.doRequeue(lease, reason)));
  }

  /** Requeues jobs whose lease expired; resolves with their number. 0 where `shared` is false: those leases end with the process. */
  reap(limit: number): Promise<number> {
    return this.call(() => (checkLimit('limit', limit, LIMITS.claim), this.doReap(limit)));
  }

  /** What it shows is durable in the declared class (R14). Rejects `storage_slow` when the covering flush takes more than 1 s. */
  get(id: string): Promise<JobRecord | null> {
    return this.call(() => (checkId('id', id), this.doGet(id)));
  }

  /** As `get`, by id ascending. A page may be followed by an empty last one. */
  list(query: ListQuery = {}): Promise<JobPage> {
    return this.call(() => (checkList(query), this.doList(query)));
  }

  /** Jobs kept, by state. Never waits for a flush. */
  counts(): Promise<JobCounts> {
    return this.call(() => this.doCounts());
  }

  /**
   * Resolves, when durable, with the job: `cancelled`, or still `active` with `cancelRequested` (again too). Rejects `not_found`,
   * `already_finished`.
   */
  cancel(id: string): Promise<JobRecord> {
    return this.call(() => (checkId('id', id), this.doCancel(id)));
  }

  /** Dead -> ready, counters at 0, epoch and last error kept. Resolves with the job when durable. Rejects `not_found`, `not_dead`. */
  redrive(id: string): Promise<JobRecord> {
    return this.call(() => (checkId('id', id), this.doRedrive(id)));
  }

  /** Forgets at most 1,000 jobs that the policy gives up; resolves with their number. Call again while it is 1,000. */
  prune(policy: PrunePolicy): Promise<number> {
    return this.call(() => (checkPrune(policy), this.doPrune(policy)));
  }

  /** Hints of this adapter, to this process. Returns the unsubscribe function. What a listener throws is an uncaught exception. */
  subscribe(listener: (event: StorageEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  protected abstract doOpen(): Promise<void>;
  protected abstract doClose(): Promise<void>;
  protected abstract doEnqueue(jobs: readonly CheckedJob[]): Promise<EnqueueOutcome[]>;
  protected abstract doClaim(request: ClaimRequest): Promise<JobRecord[]>;
  protected abstract doExtend(requests: readonly ExtendRequest[], leaseMs: number): Promise<ExtendOutcome[]>;
  protected abstract doAck(lease: Lease, result: string | null): Promise<void>;
  protected abstract doNack(lease: Lease, error: JobError, disposition: NackDisposition): Promise<void>;
  protected abstract doRelease(lease: Lease, inMs: number): Promise<void>;
  protected abstract doRequeue(lease: Lease, reason: RequeueReason): Promise<void>;
  protected abstract doReap(limit: number): Promise<number>;
  protected abstract doGet(id: string): Promise<JobRecord | null>;
  protected abstract doList(query: ListQuery): Promise<JobPage>;
  protected abstract doCounts(): Promise<JobCounts>;
  protected abstract doCancel(id: string): Promise<JobRecord>;
  protected abstract doRedrive(id: string): Promise<JobRecord>;
  protected abstract doPrune(policy: PrunePolicy): Promise<number>;

  /** Where the adapter is in its life, for `health()`. Adapters report `full` and `failed` there themselves. */
  protected get lifecycle(): StorageState {
    return this.#state;
  }

  protected emit(event: StorageEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        // What the storage has done stands: the error is the listener's, and nobody's who waits for the storage.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  async #open(): Promise<void> {
    this.#state = 'opening';
    // Nothing else does where the storage is waited for before a port is opened, and a process that ends then says nothing.
    const keepsAlive = setInterval(() => undefined, MAX_TIMER_MS);
    try {
      await Promise.resolve(); // else an adapter that throws at once would leave its refusal behind for every later open
      await this.doOpen();
      this.#state = 'open';
    } catch (error) {
      this.#state = 'closed';
      this.#opening = null;
      throw error;
    } finally {
      clearInterval(keepsAlive);
    }
  }

  async #close(opening: Promise<void>): Promise<void> {
    try {
      await opening.catch(() => undefined);
      if (this.#state !== 'open') return;
      this.#state = 'closing';
      await this.doClose();
    } finally {
      this.#state = 'closed';
      this.#opening = null;
      this.#closing = null;
    }
  }

  /** A refused argument or a closed adapter rejects, it never throws: callers have one way to look at failures. */
  protected call<T>(action: () => Promise<T>): Promise<T> {
    if (this.#state !== 'open') return Promise.reject(notOpen(this.#state));
    try {
      return action();
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error('an adapter threw no Error', { cause: error }));
    }
  }
}

function notOpen(state: StorageState): OrchdError {
  if (state === 'opening') return new OrchdError('starting', 'the storage is still opening');
  return new OrchdError('not_open', `the storage is ${state}`);
}
