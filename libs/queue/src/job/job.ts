import type { BackoffBounds, JobProgress, JobRecord, JobState, RecordedError } from '@orchd/storage';

/**
 * A job as handlers and callers of {@link QueueService} see it: a `JobRecord` with its texts parsed. Instants are epoch milliseconds,
 * durations milliseconds. A snapshot: it does not change when the job does.
 */
export interface Job<P = unknown, R = unknown> {
  readonly id: string;
  readonly queue: string;
  readonly type: string;
  readonly state: JobState;
  readonly payload: P;
  readonly priority: number;
  readonly dedupeKey: string | null;
  /** Deliveries begun; starts = attempts + requeues + releases + (1 if active, done, or cancelled while active). */
  readonly starts: number;
  /** Deliveries that failed. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Deliveries taken away from a worker that was silent or whose process died. */
  readonly requeues: number;
  readonly maxRequeues: number;
  /** Deliveries given back untouched: shutdown, snooze. */
  readonly releases: number;
  /** Longest total time of one delivery; 0 = the handler's own limit, if it has one. */
  readonly timeoutMs: number;
  readonly backoff: BackoffBounds;
  /** The fencing token: rises with every delivery. */
  readonly epoch: number;
  readonly cancelRequested: boolean;
  readonly createdAt: number;
  readonly runAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly progress: JobProgress | null;
  /** The last lines the handler logged, oldest first. */
  readonly log: readonly string[];
  readonly result: R | null;
  /** The last failure, also of a job that went on to succeed. */
  readonly error: RecordedError | null;
}

export interface JobList {
  /** By id, ascending. */
  readonly jobs: readonly Job[];
  readonly nextCursor: string | null;
}

/** Field by field: an adapter may show records whose fields are getters, which a spread would lose. */
export function jobWith<P>(record: JobRecord, payload: P): Job<P> {
  return {
    id: record.id,
    queue: record.queue,
    type: record.type,
    state: record.state,
    payload,
    priority: record.priority,
    dedupeKey: record.dedupeKey,
    starts: record.starts,
    attempts: record.attempts,
    maxAttempts: record.maxAttempts,
    requeues: record.requeues,
    maxRequeues: record.maxRequeues,
    releases: record.releases,
    timeoutMs: record.timeoutMs,
    backoff: record.backoff,
    epoch: record.epoch,
    cancelRequested: record.cancelRequested,
    createdAt: record.createdAt,
    runAt: record.runAt,
    startedAt: record.startedAt,
    finishedAt: record.finishedAt,
    progress: record.progress,
    log: record.log,
    result: record.result === null ? null : parsed(record.result),
    error: record.error,
  };
}

/** For readers: a text that is not JSON, put there past this library, is shown as it is rather than hiding the job. */
export function toJob<P = unknown>(record: JobRecord): Job<P> {
  return jobWith(record, parsed(record.payload) as P);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
