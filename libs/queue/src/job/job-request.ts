import { InvalidArgumentError, type BackoffBounds, type NewJob } from '@orchd/storage';
import { fingerprintOf } from './fingerprint.js';

/** What a caller asks for. Everything but `type` may be left out; the storage checks the ranges. */
export interface JobRequest<P = unknown> {
  /** Default: a new, time-ordered one. */
  readonly id?: string;
  readonly type: string;
  /** Any JSON value; default null. */
  readonly payload?: P;
  /** Default: the queue of the type's handler, where this process knows it, else `default`. */
  readonly queue?: string;
  /** 0..9, 9 is claimed first; default 5. */
  readonly priority?: number;
  /** At most one of `delayMs` (a duration) and `runAt` (an instant, epoch ms; past = now). */
  readonly delayMs?: number;
  readonly runAt?: number;
  readonly maxAttempts?: number;
  readonly maxRequeues?: number;
  /** Longest total time of one delivery; 0 or left out = the handler's own limit. */
  readonly timeoutMs?: number;
  readonly backoff?: Partial<BackoffBounds>;
  /** While a job with this key is kept, a second equal request answers that job; an unequal one is a `conflict`. */
  readonly dedupeKey?: string;
}

/** What stands in for what a request leaves out. */
export interface JobDefaults {
  readonly queue: string;
  readonly maxAttempts: number;
  readonly maxRequeues: number;
  readonly backoff: BackoffBounds;
}

/** @param sentAs the request as its sender wrote it: what makes a repeated id or key the same request (R11) */
export function toNewJob(request: JobRequest, defaults: JobDefaults, sentAs: unknown): NewJob {
  const { payload, backoff, id, dedupeKey } = request;
  const text = payloadText(payload);
  return {
    id,
    queue: request.queue ?? defaults.queue,
    type: request.type,
    payload: text,
    priority: request.priority,
    delayMs: request.delayMs,
    runAt: request.runAt,
    maxAttempts: request.maxAttempts ?? defaults.maxAttempts,
    maxRequeues: request.maxRequeues ?? defaults.maxRequeues,
    timeoutMs: request.timeoutMs,
    backoff: backoff === undefined ? defaults.backoff : { ...defaults.backoff, ...defined(backoff) },
    dedupeKey,
    fingerprint: id === undefined && dedupeKey === undefined ? undefined : fingerprintOf(sentAs),
  };
}

function payloadText(payload: unknown): string {
  if (payload === undefined) return 'null';
  let text: string | undefined;
  try {
    text = JSON.stringify(payload);
  } catch (error) {
    throw new InvalidArgumentError('payload', `must be a JSON value (${error instanceof Error ? error.message : 'its toJSON threw'})`);
  }
  if (text === undefined) throw new InvalidArgumentError('payload', 'must be a JSON value');
  return text;
}

function defined(backoff: Partial<BackoffBounds>): Partial<BackoffBounds> {
  return Object.fromEntries(Object.entries(backoff).filter(([, value]) => value !== undefined));
}
