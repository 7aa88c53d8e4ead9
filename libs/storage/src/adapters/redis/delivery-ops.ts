import { createHash } from 'node:crypto';
import type { JobError, JobProgress, Lease, NackDisposition, RequeueReason } from '../../contract/index.js';

/** One thing a worker says about its delivery: a letter, the lease, and what the letter takes (see deliver.lua.ts). */
export type DeliveryOp = readonly string[];

/** What the deliver script says of an op. */
export const LOST = 0;
export const CANCEL_REQUESTED = 2;

const BYTES_OF_AN_OP = 4096;
/** A digest longer than this would be shorter as a hash. */
const PLAIN_DIGEST = 20;

/** Results and messages, the large part of an op, come last. */
export function weighOp(op: DeliveryOp): number {
  return 1 + Math.floor(op[op.length - 1]!.length / BYTES_OF_AN_OP);
}

export function extendOp(lease: Lease, leaseMs: number): DeliveryOp {
  return ['x', lease.id, String(lease.epoch), String(leaseMs)];
}

export function noteOp(lease: Lease, progress: JobProgress | null, log: readonly string[]): DeliveryOp {
  const { percent, note } = progress ?? { percent: '', note: null };
  const text = note === null ? ['0'] : ['1', note];
  return ['o', lease.id, String(lease.epoch), String(percent), ...text, String(log.length), ...log];
}

export function ackOp(lease: Lease, result: string | null): DeliveryOp {
  const epoch = String(lease.epoch);
  return result === null ? ['a', lease.id, epoch, '-'] : ['A', lease.id, epoch, digest(result), result];
}

export function nackOp(lease: Lease, error: JobError, disposition: NackDisposition): DeliveryOp {
  const retry = 'retryInMs' in disposition ? String(disposition.retryInMs) : 'dead';
  return ['n', lease.id, String(lease.epoch), digest(`${error.code} ${retry} ${error.message}`), retry, error.code, error.message];
}

export function releaseOp(lease: Lease, inMs: number): DeliveryOp {
  return ['l', lease.id, String(lease.epoch), digest(String(inMs)), String(inMs)];
}

/** @param random uniform in [0, 1), for the jitter of the wait, if there is one */
export function requeueOp(lease: Lease, reason: RequeueReason, random: number): DeliveryOp {
  return ['q', lease.id, String(lease.epoch), digest(reason), reason, String(random)];
}

/**
 * Stands for the arguments of a settle in its mark (R4). A short text stands for itself; a longer one is hashed: to 96 bits, enough against
 * a worker's mistake, for both calls come from the lease's holder.
 */
function digest(text: string): string {
  if (text.length <= PLAIN_DIGEST && Buffer.byteLength(text) <= PLAIN_DIGEST) return `=${text}`;
  return `#${createHash('sha1').update(text).digest('base64url').slice(0, 16)}`;
}
