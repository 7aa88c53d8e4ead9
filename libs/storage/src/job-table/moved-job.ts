import type { MovedJob } from '../contract/index.js';
import { JobEntry } from './job-entry.js';
import type { Now } from './table-event.js';
import { restartDelay } from './transitions.js';

export function toMovedJob(entry: JobEntry, now: Now): MovedJob {
  const finished = entry.detail !== null && entry.detail.finishedAt !== null;
  return {
    ...entry.toRecord(),
    fingerprint: entry.keys?.fingerprint ?? null,
    delayMs: entry.due === null || entry.due.instant ? null : entry.due.delayMs,
    finishedForMs: finished ? now.mono - entry.detail!.finishedMono : null,
  };
}

/** The job as an entry of another table: nothing of it changes but its turn among the ready, which the table gives it. */
export function fromMovedJob(job: MovedJob, now: Now): JobEntry {
  const { dedupeKey, fingerprint, state, epoch, starts, attempts, requeues, releases, delayMs, finishedForMs } = job;
  const entry = new JobEntry(
    job.id,
    job.queue,
    job.type,
    job.payload,
    job.priority,
    job.maxAttempts,
    job.maxRequeues,
    job.timeoutMs,
    job.backoff,
    job.createdAt,
    job.runAt,
    dedupeKey === null && fingerprint === null ? null : { dedupeKey, fingerprint },
  );
  Object.assign(entry, { state, epoch, starts, attempts, requeues, releases });
  if (state === 'delayed') {
    const instant = delayMs === null;
    entry.due = { entry, key: 0, seq: 0, delayMs: delayMs ?? Math.max(0, job.runAt - now.wall), instant, index: 0 };
    restartDelay(entry, now);
  }
  if (job.startedAt === null && job.finishedAt === null) return entry;
  const { cancelRequested, startedAt, finishedAt, progress, log, result, error } = job;
  const finishedMono = finishedForMs === null ? 0 : now.mono - finishedForMs;
  Object.assign(entry.ensureDetail(), { cancelRequested, startedAt, finishedAt, finishedMono, progress, log, result, error });
  return entry;
}
