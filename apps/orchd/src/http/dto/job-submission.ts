import type { JobRequest } from '@orchd/queue';
import { LIMITS } from '@orchd/storage';
import { setImmediate } from 'node:timers/promises';
import { invalidField, invalidFields } from '../errors/http-problem.js';
import { isJsonObject, type FieldProblems } from './dto-reader.js';
import { readJobRequest } from './job-request.reader.js';

/** A checked request, and the body it was made of: what makes a repeated key the same request (R11). */
export interface JobSubmission {
  readonly request: JobRequest;
  readonly sentAs: Readonly<Record<string, unknown>>;
}

/** So many jobs are read in one turn of the event loop, about 2 ms; a batch has up to 10,000. */
const JOBS_PER_TURN = 100;

/** Throws `invalid_argument` with every bad field. */
export function readSubmission(body: unknown): JobSubmission {
  const problems: FieldProblems = new Map();
  const request = readJobRequest(body, problems);
  if (problems.size > 0) throw invalidFields(problems);
  return { request, sentAs: body as Record<string, unknown> };
}

/** The key of the header stands for the field `dedupe_key`; both may be sent if they agree. */
export function withKey({ request, sentAs }: JobSubmission, key: string | undefined): JobSubmission {
  if (key === undefined || key === request.dedupeKey) return { request, sentAs };
  if (request.dedupeKey !== undefined) throw invalidField('dedupe_key', 'differs from the header Idempotency-Key');
  return { request: { ...request, dedupeKey: key }, sentAs: { ...sentAs, dedupe_key: key } };
}

/** All of the jobs or none: one bad field anywhere refuses the batch (R12). Lets other requests in between. */
export async function readBatch(body: unknown): Promise<JobSubmission[]> {
  const jobs = batchJobs(body);
  const problems: FieldProblems = new Map();
  const submissions: JobSubmission[] = [];
  for (const [index, job] of jobs.entries()) {
    submissions.push({ request: readJobRequest(job, problems, `jobs[${index}].`), sentAs: job as Record<string, unknown> });
    if (submissions.length % JOBS_PER_TURN === 0) await setImmediate();
  }
  if (problems.size > 0) throw invalidFields(problems);
  return submissions;
}

function batchJobs(body: unknown): readonly unknown[] {
  if (!isJsonObject(body)) throw invalidField('body', 'must be a JSON object');
  const { jobs, ...rest } = body;
  if (Object.keys(rest).length > 0) {
    throw invalidFields(new Map(Object.keys(rest).map((name) => [name.slice(0, 64), 'is not a field of this request'])));
  }
  if (!Array.isArray(jobs) || jobs.length === 0) throw invalidField('jobs', 'must be a non-empty array');
  if (jobs.length > LIMITS.batch) throw invalidField('jobs', `must not hold more than ${LIMITS.batch} jobs`);
  return jobs;
}
