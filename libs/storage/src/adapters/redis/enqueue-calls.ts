import { createHash } from 'node:crypto';
import { OrchdError, type CheckedJob, type EnqueueOutcome, type JobState } from '../../contract/index.js';
import { PIECE_BYTES } from './format.js';
import { kindOf } from './kind-codec.js';

/** The jobs of one enqueue call; accepted whole or not at all. */
export type EnqueueCall = readonly CheckedJob[];

/** What the script says of one call: of each job, or of the only one, or the place of a conflict in it. */
export type EnqueueReply = number | Made | readonly (Made | Twin)[];
type Made = 'r' | 'd';
type Twin = readonly [id: string, state: JobState, queue: string, type: string];

/** A payload of this size weighs as much as a job. */
const BYTES_OF_A_JOB = 4096;

export function weighCall(jobs: EnqueueCall): number {
  return jobs.reduce((weight, { payload }) => weight + 1 + Math.floor(payload.length / BYTES_OF_A_JOB), 0);
}

/**
 * The arguments of the enqueue script: whether the ids ascend, the number of shapes, the shapes, the number of ids, the ids, then each call
 * as the number of its jobs and the jobs. A shape is what many jobs have in common, sent once; a job is the number of its shape, its
 * payload, and what the shape announces.
 */
export function encodeCalls(calls: readonly EnqueueCall[]): string[] {
  const shapes = new Map<string, string>();
  const ids: string[] = [];
  const body: string[] = [];
  for (const jobs of calls) {
    body.push(String(jobs.length));
    for (const job of jobs) {
      ids.push(job.id);
      encodeJob(job, shapes, body);
    }
  }
  const args = [ascend(ids) ? '1' : '0', String(shapes.size)];
  for (const shape of shapes.keys()) args.push(...shape.split('|'));
  args.push(String(ids.length));
  return args.concat(ids, body);
}

/** As made ids do. They are ASCII, so JavaScript compares them as Redis does. */
function ascend(ids: readonly string[]): boolean {
  for (let i = 1; i < ids.length; i++) if (ids[i]! <= ids[i - 1]!) return false;
  return true;
}

/** The outcomes of one call. Throws `conflict`. */
export function decodeReply(jobs: EnqueueCall, reply: EnqueueReply): EnqueueOutcome[] {
  if (typeof reply === 'number') {
    const { id, dedupeKey } = jobs[reply - 1]!;
    const what = dedupeKey === null ? `id ${id}` : `id ${id} or dedupe key ${JSON.stringify(dedupeKey)}`;
    throw new OrchdError('conflict', `a job with ${what} exists already and was requested differently`);
  }
  if (typeof reply === 'string') return [made(jobs[0]!, reply)];
  return reply.map((said, i) => {
    if (typeof said === 'string') return made(jobs[i]!, said);
    return { id: said[0], state: said[1], queue: said[2], type: said[3], created: false };
  });
}

function made({ id, queue, type }: CheckedJob, said: Made): EnqueueOutcome {
  return { id, state: said === 'r' ? 'ready' : 'delayed', queue, type, created: true };
}

function encodeJob(job: CheckedJob, shapes: Map<string, string>, args: string[]): void {
  const due = dueArgument(job);
  const extras = `${due === null ? '' : 'd'}${job.dedupeKey === null ? '' : 'k'}${job.fingerprint === null ? '' : 'p'}`;
  const shape = shapeOf(job, extras);
  let number = shapes.get(shape);
  if (number === undefined) shapes.set(shape, (number = String(shapes.size + 1)));
  args.push(number, job.payload);
  if (due !== null) args.push(due);
  if (job.dedupeKey !== null) args.push(job.dedupeKey);
  if (job.fingerprint !== null) args.push(shortPrint(job.fingerprint));
}

/** The kind of the job and the extras that its arguments have; neither can hold the bar between them. */
function shapeOf(job: CheckedJob, extras: string): string {
  return `${kindOf(job)}|${extras}`;
}

function dueArgument({ delayMs, runAt }: CheckedJob): string | null {
  if (runAt !== null) return `@${runAt}`;
  return delayMs === 0 ? null : `+${delayMs}`;
}

/** Only compared, never shown: a long one is kept as its digest, so that a job's hash stays small. */
export function shortPrint(fingerprint: string): string {
  if (fingerprint.length <= PIECE_BYTES && !fingerprint.startsWith('#') && Buffer.byteLength(fingerprint) <= PIECE_BYTES)
    return fingerprint;
  return `#${createHash('sha256').update(fingerprint).digest('base64url')}`;
}
