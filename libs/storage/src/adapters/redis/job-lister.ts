import type { JobPage, JobRecord, ListQuery } from '../../contract/index.js';
import type { ScriptCalls } from './script-calls.js';

/** Ids that one step looks at, so that none holds Redis up; and how many a state may have to be looked up on its own shelf. */
const STEP = 1000;
const DEFAULT_LIMIT = 100;

/** Pages of jobs by id, in steps short enough for everybody else. */
export async function listJobs(calls: ScriptCalls, query: ListQuery): Promise<JobPage> {
  const ids = query.state === undefined ? null : await calls.few(query.state, STEP);
  return ids === null ? scan(calls, query) : pick(calls, query, ids);
}

async function scan(calls: ScriptCalls, { limit = DEFAULT_LIMIT, cursor: from, ...filter }: ListQuery): Promise<JobPage> {
  const jobs: JobRecord[] = [];
  let cursor = from ?? null;
  do {
    const step = await calls.list({ ...filter, cursor, limit: limit - jobs.length, budget: STEP });
    jobs.push(...step.jobs);
    cursor = step.rest;
  } while (cursor !== null && jobs.length < limit);
  return { jobs, nextCursor: cursor };
}

/** From the few ids of a state. Ids are ASCII, so JavaScript sorts them as Redis does. */
async function pick(calls: ScriptCalls, query: ListQuery, ids: readonly string[]): Promise<JobPage> {
  const { limit = DEFAULT_LIMIT, cursor = '' } = query;
  const candidates = ids.filter((id) => id > cursor).sort();
  const jobs: JobRecord[] = [];
  for (let at = 0; at < candidates.length; at += limit) {
    const found = await calls.get(candidates.slice(at, at + limit));
    for (const job of found) {
      if (job === null || !matches(job, query)) continue;
      jobs.push(job);
      if (jobs.length === limit) return { jobs, nextCursor: job.id };
    }
  }
  return { jobs, nextCursor: null };
}

function matches(job: JobRecord, { state, queue, type }: ListQuery): boolean {
  return job.state === state && (queue === undefined || job.queue === queue) && (type === undefined || job.type === type);
}
