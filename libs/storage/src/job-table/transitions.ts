import { LIMITS, type JobState, type RequeueReason } from '../contract/index.js';
import type { JobEntry } from './job-entry.js';
import type { CancelEvent, NoteEvent, Now, SettleEvent } from './table-event.js';

export const REQUEUE_MESSAGES: Record<RequeueReason, string> = {
  hung: 'the worker was silent for longer than its heartbeat time-out',
  lease_expired: 'the lease ended before the job did: its process died or was cut off',
};

/** What each event does to the fields of a job, apart from its state and place. Live calls and replay share these. */

export function applyStart(entry: JobEntry, epoch: number, at: number): void {
  const detail = entry.ensureDetail();
  entry.epoch = epoch;
  entry.starts++;
  detail.startedAt = at;
  detail.progress = null;
  detail.mark = null;
}

/** A delivery that ends in `cancelled` charges nothing: it is the one start more of R2. */
export function applySettle(entry: JobEntry, event: SettleEvent): void {
  const detail = entry.ensureDetail();
  detail.mark = event.digest === null ? null : { epoch: event.epoch, verb: event.verb, digest: event.digest };
  entry.epoch = event.nextEpoch;
  if (event.to !== 'cancelled') {
    if (event.verb === 'nack') entry.attempts++;
    else if (event.verb === 'requeue') entry.requeues++;
    else if (event.verb === 'release') entry.releases++;
  }
  if (event.error !== null) detail.error = { code: event.error.code, message: event.error.message, at: event.at };
  detail.result = event.result;
  if (isFinal(event.to)) applyFinish(entry, event);
}

export function applyCancel(entry: JobEntry, event: CancelEvent): void {
  const detail = entry.ensureDetail();
  detail.mark = null;
  if (entry.state === 'active') detail.cancelRequested = true;
  else applyFinish(entry, event);
}

export function applyRedrive(entry: JobEntry): void {
  const detail = entry.ensureDetail();
  entry.starts = entry.attempts = entry.requeues = entry.releases = 0;
  detail.mark = null;
  detail.finishedAt = null;
}

export function applyNote(entry: JobEntry, event: NoteEvent): void {
  const detail = entry.ensureDetail();
  detail.progress = event.progress;
  detail.log = event.log;
}

/**
 * R9: the rest of a duration is at most its whole length, whatever the wall clock did meanwhile; an instant stays what it is. What is overdue
 * stays so by as much, so that due jobs keep their order.
 */
export function restartDelay(entry: JobEntry, now: Now): void {
  const due = entry.due!;
  due.key = due.instant ? entry.runAt : now.mono + Math.min(entry.runAt - now.wall, due.delayMs);
}

export function waiting(delayMs: number): JobState {
  return delayMs > 0 ? 'delayed' : 'ready';
}

export function isFinal(state: JobState): boolean {
  return state === 'done' || state === 'dead' || state === 'cancelled';
}

function applyFinish(entry: JobEntry, moment: { at: number; mono: number }): void {
  const detail = entry.ensureDetail();
  detail.finishedAt = moment.at;
  detail.finishedMono = moment.mono;
}

/** The lines a job keeps after `added` came: the last ones, each cut. */
export function mergeLog(kept: readonly string[], added: readonly string[]): readonly string[] {
  return added.length === 0 ? kept : [...kept, ...added.map(cutLine)].slice(-LIMITS.logLines);
}

function cutLine(line: string): string {
  return line.length <= LIMITS.logLine ? line : line.slice(0, LIMITS.logLine).toWellFormed();
}
