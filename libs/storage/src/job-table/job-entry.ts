import type { BackoffBounds, JobProgress, JobRecord, JobState, RecordedError } from '../contract/index.js';

/** What only some jobs have, kept apart so that a waiting job stays small. */
export interface JobKeys {
  readonly dedupeKey: string | null;
  readonly fingerprint: string | null;
}

export type SettleVerb = 'ack' | 'nack' | 'release' | 'requeue';

/** The last settle, so that its repetition is recognised (R4). */
export interface SettleMark {
  readonly epoch: number;
  readonly verb: SettleVerb;
  readonly digest: number;
}

/** What a job has from its first delivery on. */
export interface JobDetail {
  cancelRequested: boolean;
  startedAt: number | null;
  finishedAt: number | null;
  /** Storage clock (see `Now`), for prune. */
  finishedMono: number;
  progress: JobProgress | null;
  log: readonly string[];
  /** Storage clock of the last note that was written out. */
  notedMono: number;
  result: string | null;
  error: RecordedError | null;
  mark: SettleMark | null;
}

/** A job's place in a heap of due times. */
export interface DueItem {
  readonly entry: JobEntry;
  /** When it is due, by the clock of its heap. */
  key: number;
  /** Breaks ties: first come, first due. */
  seq: number;
  /** The whole length of the delay, ms; on reopening the rest is never longer (R9). */
  readonly delayMs: number;
  /** Due at an instant (`runAt`), not after a duration. */
  readonly instant: boolean;
  index: number;
}

/** One job as the table keeps it. Mutable, and never shown outside: readers get `toRecord()`. */
export class JobEntry {
  state: JobState = 'ready';
  epoch = 0;
  starts = 0;
  attempts = 0;
  requeues = 0;
  releases = 0;
  /** Order of becoming ready, 0 while never ready. */
  readySeq = 0;
  /** The adapter's own: where the newest full record of the job stands (a segment number, 0 while it is on its way) and how long it is. */
  segment = 0;
  recordBytes = 0;
  due: DueItem | null = null;
  detail: JobDetail | null = null;

  constructor(
    readonly id: string,
    readonly queue: string,
    readonly type: string,
    readonly payload: string,
    readonly priority: number,
    readonly maxAttempts: number,
    readonly maxRequeues: number,
    readonly timeoutMs: number,
    readonly backoff: BackoffBounds,
    readonly createdAt: number,
    public runAt: number,
    readonly keys: JobKeys | null,
  ) {}

  ensureDetail(): JobDetail {
    return (this.detail ??= {
      cancelRequested: false,
      startedAt: null,
      finishedAt: null,
      finishedMono: 0,
      progress: null,
      log: NO_LINES,
      notedMono: -Infinity,
      result: null,
      error: null,
      mark: null,
    });
  }

  toRecord(): JobRecord {
    const detail = this.detail;
    return {
      id: this.id,
      epoch: this.epoch,
      queue: this.queue,
      type: this.type,
      payload: this.payload,
      state: this.state,
      priority: this.priority,
      dedupeKey: this.keys === null ? null : this.keys.dedupeKey,
      starts: this.starts,
      attempts: this.attempts,
      maxAttempts: this.maxAttempts,
      requeues: this.requeues,
      maxRequeues: this.maxRequeues,
      releases: this.releases,
      timeoutMs: this.timeoutMs,
      backoff: this.backoff,
      cancelRequested: detail?.cancelRequested ?? false,
      createdAt: this.createdAt,
      runAt: this.runAt,
      startedAt: detail === null ? null : detail.startedAt,
      finishedAt: detail === null ? null : detail.finishedAt,
      progress: detail === null ? null : detail.progress,
      log: detail === null ? NO_LINES : detail.log,
      result: detail === null ? null : detail.result,
      error: detail === null ? null : detail.error,
    };
  }
}

const NO_LINES: readonly string[] = Object.freeze([]);
