import assert from 'node:assert/strict';
import { DEFAULT_BACKOFF, type JobRecord, type JobState, type NewJob } from '../contract/index.js';

/** When a delayed job is due: after a duration by the monotonic clock, or at an instant of the wall clock (R9). */
export type Due =
  { readonly clock: 'mono'; readonly at: number; readonly lengthMs: number } | { readonly clock: 'wall'; readonly at: number };

/** What cannot be known before the storage shows it, and the bounds it must keep. */
interface Unknown {
  /** The epoch rose, by as much as the storage likes. */
  readonly epochAbove?: number;
  /** The job waits, jitter included, for this long from `mono` on. */
  readonly wait?: { readonly mono: number; readonly lowMs: number; readonly highMs: number };
  /** An error message in the storage's own words. */
  readonly message?: true;
}

/** Every request of the walk has an id, so that its answer is known before the call. */
export type ModelRequest = NewJob & { readonly id: string };

/** A job as the model keeps it: plain fields, in the words of the contract. */
export interface ModelJob {
  readonly id: string;
  readonly request: ModelRequest;
  readonly priority: number;
  readonly maxAttempts: number;
  readonly maxRequeues: number;
  readonly backoff: { readonly baseMs: number; readonly capMs: number };
  readonly createdAt: number;
  state: JobState;
  epoch: number;
  starts: number;
  attempts: number;
  requeues: number;
  releases: number;
  cancelRequested: boolean;
  /** Null where the rules leave it open: a job that became ready again at once. */
  runAt: number | null;
  due: Due | null;
  /** Its turn within its class; jobs with the same turn may go in any order. */
  turn: number;
  startedAt: number | null;
  finishedAt: number | null;
  /** When it was finished, by the monotonic clock that the store has seen: a restart leaves bounds. */
  finished: { readonly latest: number; readonly earliest: number } | null;
  result: string | null;
  error: { readonly code: string; readonly message: string; readonly at: number } | null;
  /** The last settle, while nothing happened since (R4). */
  lastSettle: { readonly epoch: number; readonly call: string } | null;
  unknown: Unknown;
}

export function newModelJob(request: ModelRequest, wall: number): ModelJob {
  return {
    id: request.id,
    request,
    priority: request.priority ?? 5,
    maxAttempts: request.maxAttempts ?? 5,
    maxRequeues: request.maxRequeues ?? 10,
    backoff: request.backoff ?? DEFAULT_BACKOFF,
    createdAt: wall,
    state: 'ready',
    epoch: 0,
    starts: 0,
    attempts: 0,
    requeues: 0,
    releases: 0,
    cancelRequested: false,
    runAt: wall,
    due: null,
    turn: 0,
    startedAt: null,
    finishedAt: null,
    finished: null,
    result: null,
    error: null,
    lastSettle: null,
    unknown: {},
  };
}

export function isFinal(state: JobState): boolean {
  return state === 'done' || state === 'dead' || state === 'cancelled';
}

/**
 * The storage shows the job as the model expects it; throws an AssertionError where it does not. What the model could not know it learns
 * here. `exact` is false where the storage's clock is not the model's: then an instant is only compared with "there is none".
 */
export function observe(job: ModelJob, record: JobRecord, exact: boolean): void {
  const { epochAbove, wait, message } = job.unknown;
  if (epochAbove !== undefined) {
    assert.ok(record.epoch > epochAbove, `the epoch of ${job.id} rises above ${epochAbove}; it is ${record.epoch}`);
    job.epoch = record.epoch;
  }
  if (message && record.error !== null && job.error !== null) {
    assert.ok(record.error.message.length > 0, `the error of ${job.id} says something`);
    job.error = { ...job.error, message: record.error.message };
  }
  if (wait !== undefined && record.error !== null) {
    // The storage takes the error and begins to wait in the same moment.
    const ms = record.runAt - record.error.at;
    assert.ok(ms >= wait.lowMs && ms <= wait.highMs, `${job.id} waits ${wait.lowMs}..${wait.highMs} ms; it waits ${ms}`);
    job.due = { clock: 'mono', at: wait.mono + ms, lengthMs: ms };
    job.runAt = record.runAt;
  }
  job.unknown = {};
  assert.deepEqual(blurred(record, exact), blurred(expected(job, record), exact), `${job.id} is what the model says`);
}

function expected(job: ModelJob, record: JobRecord): JobRecord {
  const { request } = job;
  return {
    id: job.id,
    epoch: job.epoch,
    queue: request.queue,
    type: request.type,
    payload: request.payload,
    state: job.state,
    priority: job.priority,
    dedupeKey: request.dedupeKey ?? null,
    starts: job.starts,
    attempts: job.attempts,
    maxAttempts: job.maxAttempts,
    requeues: job.requeues,
    maxRequeues: job.maxRequeues,
    releases: job.releases,
    timeoutMs: request.timeoutMs ?? 0,
    backoff: job.backoff,
    cancelRequested: job.cancelRequested,
    createdAt: job.createdAt,
    runAt: job.runAt ?? record.runAt,
    startedAt: job.startedAt,
    finishedAt: job.finishedAt,
    progress: null,
    log: [],
    result: job.result,
    error: job.error as JobRecord['error'],
  };
}

function blurred(record: JobRecord, exact: boolean): object {
  if (exact) return { ...record };
  const blur = (instant: number | null): string | null => (instant === null ? null : 'some time');
  return {
    ...record,
    createdAt: blur(record.createdAt),
    runAt: blur(record.runAt),
    startedAt: blur(record.startedAt),
    finishedAt: blur(record.finishedAt),
    error: record.error && { ...record.error, at: blur(record.error.at) },
  };
}
