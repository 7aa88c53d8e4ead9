import type { JobEntry } from './job-entry.js';

/**
 * Each state's jobs in the order in which they leave it; the active ones in the order in which they became ready. One pass: there may be
 * millions.
 */
export function standingOrder(jobs: Iterable<JobEntry>): Record<'ready' | 'delayed' | 'finished' | 'active', JobEntry[]> {
  const ready: JobEntry[] = [];
  const delayed: JobEntry[] = [];
  const finished: JobEntry[] = [];
  const active: JobEntry[] = [];
  const rows = { ready, delayed, active, done: finished, cancelled: finished, dead: finished };
  for (const entry of jobs) rows[entry.state].push(entry);
  for (const row of [ready, active]) row.sort((a, b) => a.readySeq - b.readySeq);
  delayed.sort((a, b) => a.due!.seq - b.due!.seq);
  finished.sort((a, b) => a.detail!.finishedMono - b.detail!.finishedMono);
  return { ready, delayed, finished, active };
}
