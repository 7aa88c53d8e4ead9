import type { JobRecord, StorageAdapter } from '@orchd/storage';
import { storageRetryMs } from '../backoff/storage-retry.js';
import { inWords } from '../maintenance/log.js';
import type { PoolSettings } from './pool-options.js';

/** One long poll; a new one follows. */
const WAIT_MS = 10_000;
/**
 * A storage may answer a claim only when something else is written. Workers that become free meanwhile do not wait for that answer, they
 * are claimed for beside it, but a queue that runs empty is not left with a poll per worker.
 */
const MAX_POLLS = 8;
/** Fewer jobs are not worth a claim of their own. */
const WORTH_HALVING = 16;

/** What the loop fills with jobs. */
export interface ClaimTarget {
  readonly queue: string;
  /** Workers, busy or not. */
  readonly size: number;
  /** Those without a job. */
  readonly free: number;
  /** Takes at most as many as are free. */
  take(jobs: readonly JobRecord[]): void;
  /** Jobs that arrived after the loop was stopped. */
  giveBack(jobs: readonly JobRecord[]): void;
}

/**
 * Keeps the free workers of one queue claimed for. Invariant: the jobs asked for never exceed the free workers. The workers that become
 * free in one turn of the event loop are claimed for together, at the end of that turn; going through the event loop also keeps jobs that
 * finish at once from starving it. While more jobs wait than are asked for, one claim on a shared storage, which is behind a connection, is
 * for half of the workers at most: it finds the jobs of one half while those of the other are handled.
 */
export class ClaimLoop {
  #asked = 0;
  #polls = 0;
  #failures = 0;
  #complained = false;
  /** The last claim found as many jobs as it asked for. */
  #backlog = false;
  #scheduled: NodeJS.Immediate | null = null;
  #cancelPause: (() => void) | null = null;
  #running: AbortController | null = null;

  constructor(
    private readonly storage: StorageAdapter,
    private readonly settings: PoolSettings,
    private readonly target: ClaimTarget,
    /** Called when a poll has ended. */
    private readonly ended: () => void,
  ) {}

  /** Claims not yet answered. */
  get polls(): number {
    return this.#polls;
  }

  start(): void {
    if (this.#running) return;
    this.#running = new AbortController();
    this.wake();
  }

  stop(): void {
    this.#running?.abort();
    this.#running = null;
    if (this.#scheduled) clearImmediate(this.#scheduled);
    this.#scheduled = null;
    this.#cancelPause?.();
    this.#cancelPause = null;
  }

  /** To be called when a worker became free. */
  wake(): void {
    if (this.#scheduled || this.#cancelPause || !this.#running) return;
    this.#scheduled = setImmediate(this.#claim);
  }

  readonly #claim = (): void => {
    this.#scheduled = null;
    const { size } = this.target;
    const halves = this.#backlog && size >= WORTH_HALVING && this.storage.capabilities.shared;
    const most = halves ? Math.ceil(size / 2) : size;
    for (;;) {
      const limit = Math.min(most, this.target.free - this.#asked);
      if (!this.#running || limit <= 0 || this.#polls >= MAX_POLLS) return;
      this.#ask(limit, this.#running.signal);
    }
  };

  #ask(limit: number, signal: AbortSignal): void {
    const { owner, leaseMs, clock } = this.settings;
    const askedAtMs = clock.monoMs();
    this.#asked += limit;
    this.#polls++;
    this.storage.claim({ queue: this.target.queue, limit, owner, leaseMs, waitMs: WAIT_MS, signal }).then(
      (jobs) => this.#answered(limit, jobs, signal, askedAtMs),
      (error: unknown) => this.#refused(limit, error, signal),
    );
  }

  #answered(limit: number, jobs: readonly JobRecord[], signal: AbortSignal, askedAtMs: number): void {
    this.#asked -= limit;
    this.#polls--;
    this.#backlog = jobs.length === limit;
    if (signal.aborted) this.target.giveBack(jobs);
    else if (jobs.length === 0 && this.settings.clock.monoMs() - askedAtMs < WAIT_MS / 2) this.#pause(signal);
    else {
      this.#recovered();
      this.target.take(jobs);
      this.wake();
    }
    this.ended();
  }

  #refused(limit: number, error: unknown, signal: AbortSignal): void {
    this.#asked -= limit;
    this.#polls--;
    if (!signal.aborted) {
      this.#complain(error);
      this.#pause(signal);
    }
    this.ended();
  }

  /** Also after an empty answer that came early: a storage that does not wait must not be asked in a circle. */
  #pause(signal: AbortSignal): void {
    if (this.#cancelPause || signal.aborted) return;
    this.#cancelPause = this.settings.clock.setTimer(storageRetryMs(++this.#failures, this.settings.random), () => {
      this.#cancelPause = null;
      this.wake();
    });
  }

  #complain(error: unknown): void {
    if (!this.#complained) this.settings.log.warn(`cannot claim from queue '${this.target.queue}', trying again: ${inWords(error)}`);
    this.#complained = true;
  }

  #recovered(): void {
    this.#failures = 0;
    if (this.#complained) this.settings.log.warn(`claims from queue '${this.target.queue}' again`);
    this.#complained = false;
  }
}
