import { isFinal, STATES, type JobView, type StatsView } from './job-view.js';
import type { Ledger, Submission } from './ledger.js';
import type { SeenJobs } from './seen-jobs.js';

/** What a storage holds, all of it, read while nothing changes it. */
export interface Recount {
  readonly jobs: readonly JobView[];
  readonly stats: StatsView;
}

/**
 * Everything that is wrong, by the invariants of an oracle that saw every request and every answer:
 *
 * I1 what was acknowledged is there exactly once; I2 what is unknown 0 or 1 times, what was refused not at all, a batch whole or not at
 * all; I3 and I4 nothing that was shown is contradicted; I6 every second start is explained; I7 `/stats` equals a recount.
 */
export function violations({ jobs, stats }: Recount, ledger: Ledger, seen: SeenJobs): string[] {
  const askedAt = seen.asking();
  for (const job of jobs) seen.shown(job, askedAt);
  return [
    ...lostOrTwice(jobs, ledger),
    ...tornBatches(jobs, ledger),
    ...seen.contradictions,
    ...unexplained(jobs),
    ...miscounted(jobs, stats),
  ];
}

/** I5, once the faults have stopped and nothing is left to do. */
export function unfinished({ jobs }: Recount): string[] {
  return jobs.filter(({ state }) => !isFinal(state)).map(({ id, state }) => `I5: ${id} is still ${state}`);
}

function lostOrTwice(jobs: readonly JobView[], ledger: Ledger): string[] {
  const found: string[] = [];
  const byKey = new Map<string, JobView[]>();
  for (const job of jobs) {
    const key = job.dedupe_key ?? '';
    if (!ledger.get(key)) found.push(`I2: ${job.id} (key ${key}) was never asked for`);
    byKey.set(key, [...(byKey.get(key) ?? []), job]);
  }
  for (const submission of ledger.submissions) found.push(...misplaced(submission, byKey.get(submission.key) ?? []));
  return found;
}

function misplaced({ key, standing, id }: Submission, jobs: readonly JobView[]): string[] {
  const ids = jobs.map((job) => job.id).join(', ');
  if (jobs.length > 1) return [`I1: ${key} is there ${jobs.length} times: ${ids}`];
  if (standing === 'acked' && ids !== id) return [`I1: ${key} was acknowledged as ${id}, and is there as ${ids || 'nothing'}`];
  if (standing === 'refused' && jobs.length > 0) return [`I2: ${key} was refused, and is there as ${ids}`];
  return [];
}

function tornBatches(jobs: readonly JobView[], ledger: Ledger): string[] {
  const present = new Set(jobs.map(({ dedupe_key }) => dedupe_key));
  const batches = new Map<number, { size: number; there: number }>();
  for (const { key, batch } of ledger.submissions) {
    const { size, there } = batches.get(batch) ?? { size: 0, there: 0 };
    batches.set(batch, { size: size + 1, there: there + (present.has(key) ? 1 : 0) });
  }
  return [...batches]
    .filter(([, { size, there }]) => there !== 0 && there !== size)
    .map(([batch, { size, there }]) => `I2: of the ${size} jobs of batch ${batch}, ${there} are there`);
}

export function unexplained(jobs: readonly JobView[]): string[] {
  const found: string[] = [];
  for (const { id, state, starts, attempts, requeues, releases } of jobs) {
    const rest = starts - attempts - requeues - releases;
    const explained = state === 'active' || state === 'done' ? rest === 1 : state === 'cancelled' ? rest === 0 || rest === 1 : rest === 0;
    if (!explained) found.push(`I6: ${id} (${state}): ${starts} starts, ${attempts} attempts, ${requeues} requeues, ${releases} releases`);
  }
  return found;
}

function miscounted(jobs: readonly JobView[], stats: StatsView): string[] {
  const counted = (state: string) => jobs.filter((job) => job.state === state).length;
  const found = STATES.filter((state) => counted(state) !== stats[state]).map(
    (state) => `I7: /stats says ${stats[state]} ${state}, the list has ${counted(state)}`,
  );
  if (stats.jobs !== jobs.length) found.push(`I7: /stats says ${stats.jobs} jobs, the list has ${jobs.length}`);
  return found;
}
