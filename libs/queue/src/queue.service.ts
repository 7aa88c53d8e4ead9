import type { OnModuleDestroy } from '@nestjs/common';
import {
  DEFAULT_BACKOFF,
  InvalidArgumentError,
  LIMITS,
  OrchdError,
  type EnqueueOutcome,
  type JobCounts,
  type ListQuery,
  type NewJob,
  type StorageAdapter,
} from '@orchd/storage';
import type { HandlerOptions } from './handler/handler.js';
import type { HandlerRegistry } from './handler/handler.registry.js';
import { integerOption } from './integer-option.js';
import { toNewJob, type JobDefaults, type JobRequest } from './job/job-request.js';
import { toJob, type Job, type JobList } from './job/job.js';
import type { PoolSnapshot } from './worker-pool/pool-snapshot.js';
import type { WorkerPool } from './worker-pool/worker-pool.js';

/** What stands in for what a request leaves out; a handler's own options come between. */
export interface QueueOptions {
  /** Default 5. */
  readonly maxAttempts?: number;
  /** Default 10. */
  readonly maxRequeues?: number;
  /** Delay before the second attempt, doubled before each further one; ms, default 10. */
  readonly retryBaseMs?: number;
  /** The delay grows up to this; ms, default 60,000. */
  readonly retryCapMs?: number;
}

export interface QueueStats extends PoolSnapshot {
  /** Jobs kept in the storage, of all processes, by state. */
  readonly counts: JobCounts;
  /** Jobs this process has enqueued since it started. */
  readonly submitted: number;
}

const NO_OPTIONS: HandlerOptions = {};

const NO_WORKERS: PoolSnapshot = {
  workers: { configured: 0, healthy: 0, busy: 0, replaced: 0, zombies: 0 },
  retried: 0,
  requeued: 0,
  staleRejected: 0,
};

/**
 * The way in for jobs, and the way to look at them. Every promise may reject with the codes of `StorageAdapter`; `enqueue` and `redrive`
 * reject `draining` once the application shuts down, everything else works as long as the storage is open.
 */
export class QueueService implements OnModuleDestroy {
  readonly #defaults: JobDefaults;
  #submitted = 0;
  #draining = false;

  /** @param pool the workers of this process, if it has any: then it refuses jobs that none of them could do */
  constructor(
    private readonly storage: StorageAdapter,
    private readonly registry: HandlerRegistry,
    options: QueueOptions = {},
    private readonly pool: WorkerPool | null = null,
  ) {
    this.#defaults = {
      queue: 'default',
      maxAttempts: integerOption('maxAttempts', options.maxAttempts ?? 5, 1, LIMITS.attempts),
      maxRequeues: integerOption('maxRequeues', options.maxRequeues ?? 10, 0, LIMITS.attempts),
      backoff: {
        baseMs: integerOption('retryBaseMs', options.retryBaseMs ?? DEFAULT_BACKOFF.baseMs, 0),
        capMs: integerOption('retryCapMs', options.retryCapMs ?? DEFAULT_BACKOFF.capMs, 0),
      },
    };
  }

  /** No job is taken any more: this process is shutting down. */
  get draining(): boolean {
    return this.#draining || (this.pool?.draining ?? false);
  }

  /**
   * Resolves when the job is durable. `created` is false when an equal request with the same id or key had made it before. Rejects
   * `invalid_argument` (with the field), `conflict`, `draining`.
   *
   * @param options.sentAs the request as its sender wrote it, where that is not `request`: repeats are compared by it
   */
  async enqueue<P>(request: JobRequest<P>, options: { sentAs?: unknown } = {}): Promise<EnqueueOutcome> {
    this.#assertTaking();
    const [outcome] = await this.#store([this.#newJob(request, options.sentAs ?? request)]);
    return outcome!;
  }

  /** As `enqueue`, all of them or none; outcomes in the order of the requests. The field of a bad request is `jobs[i].field`. */
  async enqueueMany(requests: readonly JobRequest[], options: { sentAs?: readonly unknown[] } = {}): Promise<EnqueueOutcome[]> {
    this.#assertTaking();
    const jobs = requests.map((request, i) => {
      try {
        return this.#newJob(request, options.sentAs?.[i] ?? request);
      } catch (error) {
        throw error instanceof InvalidArgumentError ? inBatch(error, i) : error;
      }
    });
    return this.#store(jobs);
  }

  async get<P = unknown>(id: string): Promise<Job<P> | null> {
    const record = await this.storage.get(id);
    return record && toJob<P>(record);
  }

  /** By id, ascending; at most 100 unless `limit` says otherwise. */
  async list(query: ListQuery = {}): Promise<JobList> {
    const { jobs, nextCursor } = await this.storage.list(query);
    return { jobs: jobs.map((record) => toJob(record)), nextCursor };
  }

  /**
   * Resolves with the job: `cancelled`, or still `active` with `cancelRequested`; then its handler's signal fires, and a second later it is
   * ended. Rejects `not_found`, `already_finished`.
   */
  async cancel(id: string): Promise<Job> {
    return toJob(await this.storage.cancel(id));
  }

  /** Makes a dead job ready again, with its counters at 0. Rejects `not_found`, `not_dead`, `draining`. */
  async redrive(id: string): Promise<Job> {
    this.#assertTaking();
    return toJob(await this.storage.redrive(id));
  }

  async stats(): Promise<QueueStats> {
    const counts = await this.storage.counts();
    return { counts, submitted: this.#submitted, ...(this.pool?.snapshot() ?? NO_WORKERS) };
  }

  onModuleDestroy(): void {
    this.#draining = true;
  }

  #newJob(request: JobRequest, sentAs: unknown): NewJob {
    const options = this.registry.get(request.type)?.options ?? NO_OPTIONS;
    const job = toNewJob(request, this.#defaultsFor(options), sentAs);
    if (this.pool && !this.pool.serves(job.queue)) throw new InvalidArgumentError('queue', `'${job.queue}' is not served by this process`);
    if (this.pool && !this.pool.handles(job.type)) throw new InvalidArgumentError('type', `'${job.type}' has no handler in this process`);
    return job;
  }

  #defaultsFor({ queue, maxAttempts, backoff }: HandlerOptions): JobDefaults {
    const own = this.#defaults;
    if (queue === undefined && maxAttempts === undefined && backoff === undefined) return own;
    return {
      queue: queue ?? own.queue,
      maxAttempts: maxAttempts ?? own.maxAttempts,
      maxRequeues: own.maxRequeues,
      backoff: { baseMs: backoff?.baseMs ?? own.backoff.baseMs, capMs: backoff?.capMs ?? own.backoff.capMs },
    };
  }

  async #store(jobs: readonly NewJob[]): Promise<EnqueueOutcome[]> {
    const outcomes = await this.storage.enqueue(jobs);
    for (const { created } of outcomes) if (created) this.#submitted++;
    return outcomes;
  }

  #assertTaking(): void {
    if (this.draining) throw new OrchdError('draining', 'this process is shutting down and takes no jobs');
  }
}

function inBatch({ field, message }: InvalidArgumentError, index: number): InvalidArgumentError {
  return new InvalidArgumentError(`jobs[${index}].${field}`, message.slice(field.length + 2));
}
