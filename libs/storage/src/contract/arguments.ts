import { DEFAULT_BACKOFF } from './backoff.js';
import { InvalidArgumentError } from './errors.js';
import { newJobId } from './job-id.js';
import { JOB_ERROR_CODES, JOB_STATES, LIMITS, type BackoffBounds, type JobError, type Lease } from './job-record.js';
import type {
  CheckedJob,
  ClaimRequest,
  ExtendRequest,
  ListQuery,
  NackDisposition,
  NewJob,
  PrunePolicy,
  RequeueReason,
} from './storage-types.js';

/** The alphabets of R13's fields, for all who check input before it reaches a storage. */
export const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/;
export const TYPE_PATTERN = /^[A-Za-z][A-Za-z0-9_.:-]{0,127}$/;
export const QUEUE_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
export const DEDUPE_KEY_MAX = 255;
const REQUEUE_REASONS: readonly RequeueReason[] = ['hung', 'lease_expired'];

const DEFAULTS = { priority: 5, maxAttempts: 5, maxRequeues: 10 } as const;

export function checkEnqueue(jobs: readonly NewJob[]): CheckedJob[] {
  if (!Array.isArray(jobs) || jobs.length === 0) throw new InvalidArgumentError('jobs', 'must be a non-empty array');
  if (jobs.length > LIMITS.batch) throw new InvalidArgumentError('jobs', `must not hold more than ${LIMITS.batch} jobs`);
  return jobs.map(checkNewJob);
}

function checkNewJob(job: NewJob): CheckedJob {
  if (job.id !== undefined) checkId('id', job.id);
  checkPattern('queue', job.queue, QUEUE_PATTERN);
  checkPattern('type', job.type, TYPE_PATTERN);
  checkText('payload', job.payload);
  const { delayMs = 0, runAt = null, dedupeKey = null, fingerprint = null } = job;
  if (job.delayMs !== undefined && runAt !== null) throw new InvalidArgumentError('runAt', 'must not stand beside delayMs');
  checkDuration('delayMs', delayMs);
  if (runAt !== null) checkInteger('runAt', runAt, 0, Number.MAX_SAFE_INTEGER);
  if (dedupeKey !== null) checkDedupeKey(dedupeKey);
  if (fingerprint !== null) checkText('fingerprint', fingerprint);
  return {
    id: job.id ?? newJobId(),
    queue: job.queue,
    type: job.type,
    payload: job.payload,
    priority: checkInteger('priority', job.priority ?? DEFAULTS.priority, 0, 9),
    delayMs,
    runAt,
    maxAttempts: checkInteger('maxAttempts', job.maxAttempts ?? DEFAULTS.maxAttempts, 1, LIMITS.attempts),
    maxRequeues: checkInteger('maxRequeues', job.maxRequeues ?? DEFAULTS.maxRequeues, 0, LIMITS.attempts),
    timeoutMs: checkDuration('timeoutMs', job.timeoutMs ?? 0),
    backoff: job.backoff === undefined ? DEFAULT_BACKOFF : checkBackoff(job.backoff),
    dedupeKey,
    fingerprint,
  };
}

export function checkClaim(request: ClaimRequest): void {
  checkPattern('queue', request.queue, QUEUE_PATTERN);
  checkLimit('limit', request.limit, LIMITS.claim);
  if (typeof request.owner !== 'string') throw new InvalidArgumentError('owner', 'must be a string');
  checkInteger('leaseMs', request.leaseMs, 1, LIMITS.durationMs);
  if (request.waitMs !== undefined) checkDuration('waitMs', request.waitMs);
}

export function checkExtend(requests: readonly ExtendRequest[], leaseMs: number): void {
  checkInteger('leaseMs', leaseMs, 1, LIMITS.durationMs);
  for (const { lease, progress, log } of requests) {
    checkLease(lease);
    if (progress !== undefined && !(typeof progress.percent === 'number' && progress.percent >= 0 && progress.percent <= 100)) {
      throw new InvalidArgumentError('progress', 'percent must be a number 0..100');
    }
    if (progress?.note != null) checkText('progress', progress.note);
    log?.forEach((line) => checkText('log', line));
  }
}

export function checkNack(disposition: NackDisposition): void {
  if ('retryInMs' in disposition) checkDuration('retryInMs', disposition.retryInMs);
  else if (disposition.dead !== true) throw new InvalidArgumentError('disposition', 'must be {retryInMs} or {dead: true}');
}

/** The code is refused where it is none; the message is for people: it is mended (cut, lone surrogates replaced), never refused. */
export function checkError(error: JobError): JobError {
  if (!JOB_ERROR_CODES.includes(error.code)) throw new InvalidArgumentError('error.code', `must be one of ${JOB_ERROR_CODES.join(', ')}`);
  const message = String(error.message).slice(0, LIMITS.errorMessage).toWellFormed();
  return { code: error.code, message };
}

export function checkReason(reason: RequeueReason): void {
  if (!REQUEUE_REASONS.includes(reason)) throw new InvalidArgumentError('reason', `must be one of ${REQUEUE_REASONS.join(', ')}`);
}

export function checkList(query: ListQuery): void {
  if (query.state !== undefined && !JOB_STATES.includes(query.state)) {
    throw new InvalidArgumentError('state', `must be one of ${JOB_STATES.join(', ')}`);
  }
  if (query.queue !== undefined) checkPattern('queue', query.queue, QUEUE_PATTERN);
  if (query.type !== undefined) checkPattern('type', query.type, TYPE_PATTERN);
  if (query.limit !== undefined) checkLimit('limit', query.limit, LIMITS.list);
  if (query.cursor !== undefined) checkId('cursor', query.cursor);
}

export function checkPrune(policy: PrunePolicy): void {
  checkDuration('keepFinishedMs', policy.keepFinishedMs);
  checkInteger('keepFinished', policy.keepFinished, 0, Number.MAX_SAFE_INTEGER);
  checkDuration('keepDeadMs', policy.keepDeadMs);
}

export function checkLease(lease: Lease): void {
  checkId('lease.id', lease.id);
  checkInteger('lease.epoch', lease.epoch, 0, Number.MAX_SAFE_INTEGER);
}

export function checkId(field: string, id: string): void {
  checkPattern(field, id, ID_PATTERN);
}

export function checkLimit(field: string, limit: number, max: number): number {
  return checkInteger(field, limit, 1, max);
}

export function checkDuration(field: string, ms: number): number {
  return checkInteger(field, ms, 0, LIMITS.durationMs);
}

/** Texts are kept as UTF-8, so a lone surrogate could not come back as it was: it is refused. */
export function checkText(field: string, text: string): void {
  if (typeof text !== 'string') throw new InvalidArgumentError(field, 'must be a string');
  if (text.length > LIMITS.text) throw new InvalidArgumentError(field, `must not exceed ${LIMITS.text} characters`);
  if (!text.isWellFormed()) throw new InvalidArgumentError(field, 'must be well-formed Unicode');
}

function checkDedupeKey(key: string): void {
  checkText('dedupeKey', key);
  if (key.length === 0 || key.length > DEDUPE_KEY_MAX)
    throw new InvalidArgumentError('dedupeKey', `must have 1..${DEDUPE_KEY_MAX} characters`);
}

function checkBackoff(backoff: BackoffBounds): BackoffBounds {
  const { baseMs, capMs } = backoff;
  checkDuration('backoff.baseMs', baseMs);
  checkDuration('backoff.capMs', capMs);
  // One object for all jobs with the usual bounds: a waiting job keeps its bounds, and QueueService always names them.
  if (baseMs === DEFAULT_BACKOFF.baseMs && capMs === DEFAULT_BACKOFF.capMs) return DEFAULT_BACKOFF;
  return { baseMs, capMs };
}

function checkPattern(field: string, value: string, pattern: RegExp): void {
  if (typeof value !== 'string' || !pattern.test(value)) throw new InvalidArgumentError(field, `must match ${pattern.source}`);
}

function checkInteger(field: string, value: number, min: number, max: number): number {
  if (!Number.isSafeInteger(value) || value < min || value > max)
    throw new InvalidArgumentError(field, `must be an integer ${min}..${max}`);
  return value;
}
