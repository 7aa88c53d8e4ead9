import type { BackoffBounds } from '@orchd/storage';
import type { Job } from '../job/job.js';

/** The code that does jobs of one type. What it returns (any JSON value, or nothing) becomes the job's result. */
export interface Handler<P = unknown, R = unknown> {
  handle(job: Job<P>, ctx: JobContext): R | PromiseLike<R>;
}

/** Where a handler runs: in the main event loop, in a worker thread, or in a child process. */
export const RUN_IN = ['inline', 'thread', 'process'] as const;
export type RunIn = (typeof RUN_IN)[number];

/** Megabytes. What a thread or a child process may take of the heap of V8; `Buffer`s are not counted. */
export interface HandlerResourceLimits {
  readonly maxOldGenerationSizeMb?: number;
  readonly maxYoungGenerationSizeMb?: number;
  /** Threads only: the stack of a process is the system's to bound. */
  readonly stackSizeMb?: number;
}

/** All times in ms. */
export interface HandlerOptions {
  /** The queue of jobs of this type that name none. */
  readonly queue?: string;
  /** Default `thread` for a module file, `inline` for anything else, which can run nowhere else. */
  readonly runIn?: RunIn;
  /** Longest silence while holding a job; default: the pool's. */
  readonly heartbeatTimeoutMs?: number;
  /** Longest total time of one delivery of a job that sets none of its own; default 0 = no limit. */
  readonly timeoutMs?: number;
  /** For jobs enqueued by a process that knows this handler; their own values win. */
  readonly backoff?: Partial<BackoffBounds>;
  readonly maxAttempts?: number;
  /** Of each thread or process of this handler. One that takes more ends, and its job's attempt is `crashed`. */
  readonly resourceLimits?: HandlerResourceLimits;
  /** A thread or process is replaced by a new one after so many jobs, for handlers that leak; default 0 = never. */
  readonly recycleAfter?: number;
}

/**
 * What a module file exports to be a handler that runs in a thread or a process: `handle`, as a named export or within the default export.
 * The module is loaded once per thread or process, so what it sets up at its top level (a Nest application context, say) serves many jobs.
 */
export interface HandlerModuleExports<P = unknown, R = unknown> extends Handler<P, R> {
  /** Called before a thread or process that is not needed any more ends; it gets a second. */
  close?(): unknown;
}

/** What a handler is given beside its job: one delivery's line to the worker pool. */
export interface JobContext {
  /**
   * Fires when this delivery is over before its handler is: cancelled, timed out, hung, lease lost, shutdown. Its `reason` is a
   * {@link DeliveryEnded}. Made when first read.
   */
  readonly signal: AbortSignal;
  /** The fencing token of this delivery. Rises with every one, so a handler can let its own database refuse older writes. */
  readonly epoch: number;
  /** 1 for the first attempt. Deliveries that were taken away or given back do not count. */
  readonly attempt: number;
  /**
   * Sign of life. A worker silent for longer than its heartbeat time-out is taken for hung. Costs a store. In a thread it is also where a
   * loop that never awaits learns that `signal` has fired.
   */
  heartbeat(): void;
  /** Also a sign of life. Below 0 counts as 0, above 100 as 100. Reaches the storage at most once a second. */
  progress(percent: number, note?: string): void;
  /** Also a sign of life. The last 20 lines of a job are kept, each cut at 500 characters. */
  log(line: string): void;
}

export type DeliveryEndReason = 'cancelled' | 'timeout' | 'hung' | 'lease_lost' | 'shutdown';

/** The `reason` of a context's abort signal. */
export class DeliveryEnded extends Error {
  override readonly name = 'DeliveryEnded';

  constructor(readonly reason: DeliveryEndReason) {
    super(`the delivery is over: ${reason}`);
  }
}
