/** The six states of a job; see "Life of a job" in the README of this package. */
export const JOB_STATES = ['delayed', 'ready', 'active', 'done', 'dead', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Why a delivery did not end in `done`. `lease_expired` also stands for a process that died with the job. */
export const JOB_ERROR_CODES = ['failed', 'timeout', 'hung', 'lease_expired', 'crashed', 'no_handler', 'discarded'] as const;
export type JobErrorCode = (typeof JOB_ERROR_CODES)[number];

export interface JobError {
  readonly code: JobErrorCode;
  /** Readable, already cut to {@link LIMITS.errorMessage} characters. */
  readonly message: string;
}

/** A {@link JobError} as it is kept: with the instant (epoch ms) at which the storage took it. */
export interface RecordedError extends JobError {
  readonly at: number;
}

/** Bounds of the exponential backoff, in ms; see `backoffDelayMs`. */
export interface BackoffBounds {
  readonly baseMs: number;
  readonly capMs: number;
}

export interface JobProgress {
  /** 0..100 */
  readonly percent: number;
  readonly note: string | null;
}

/** The right of one worker to one delivery of a job. A `JobRecord` returned by `claim` is its own lease. */
export interface Lease {
  readonly id: string;
  /** Fencing token: rises with every claim and requeue of the job, never reused, not after a restart either. */
  readonly epoch: number;
}

/**
 * A job as a storage shows it: a snapshot, never changed afterwards. Instants are epoch milliseconds, durations milliseconds.
 * Invariant (R2): starts = attempts + requeues + releases + (1 if active, done, or cancelled while active).
 */
export interface JobRecord extends Lease {
  readonly queue: string;
  readonly type: string;
  /** Opaque text; a storage never parses it. */
  readonly payload: string;
  readonly state: JobState;
  /** 0..9, 9 is claimed first. */
  readonly priority: number;
  readonly dedupeKey: string | null;
  /** Deliveries begun (claims). */
  readonly starts: number;
  /** Deliveries that ended in failure (nack). */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Deliveries taken away: worker hung, lease expired, process died. */
  readonly requeues: number;
  readonly maxRequeues: number;
  /** Deliveries given back untouched: shutdown, snooze. */
  readonly releases: number;
  /** Longest total time of one delivery; 0 = no limit. Kept for the worker pool, no storage acts on it. */
  readonly timeoutMs: number;
  readonly backoff: BackoffBounds;
  readonly cancelRequested: boolean;
  readonly createdAt: number;
  /** When the job is, or became, due. */
  readonly runAt: number;
  /** Begin of the latest delivery. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly progress: JobProgress | null;
  /** The last lines a handler logged, oldest first; at most {@link LIMITS.logLines}. */
  readonly log: readonly string[];
  /** Opaque text, set by ack. */
  readonly result: string | null;
  /** The last failure, also of a job that went on to succeed. */
  readonly error: RecordedError | null;
}

/** Sizes every adapter accepts and none exceeds. */
export const LIMITS = {
  /** Jobs in one enqueue call. */
  batch: 10_000,
  claim: 10_000,
  list: 1000,
  /** Due jobs promoted by one claim. */
  promote: 100,
  prune: 1000,
  /** Characters of a payload or result. HTTP is stricter; a library user may keep larger texts. */
  text: 16 * 1024 * 1024,
  errorMessage: 2000,
  logLines: 20,
  logLine: 500,
  durationMs: 3_155_760_000_000,
  attempts: 1000,
} as const;
