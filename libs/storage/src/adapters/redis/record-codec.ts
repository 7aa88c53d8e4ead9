import type { JobErrorCode, JobProgress, JobRecord, JobState, RecordedError } from '../../contract/index.js';
import { parseKind } from './kind-codec.js';
import { SEPARATOR } from './lua/claim.lua.js';

/** A job as scripts show it: its hash as names and values, and what stands beside the hash, the same way. */
export type ShownJob = readonly [id: string, hash: readonly string[], beside: readonly Beside[] | null];
type Beside = string | readonly string[] | null;
/** A job as it was before a claim, and what the claim made of it; or the same joined to one string, see claim.lua.ts. */
export type ClaimedJob = string | readonly [hash: readonly string[], id: string, epoch: string, starts: string, beside: ShownJob[2]];

type Hash = Map<string, string>;
type Text = 'p' | 'r' | 'e' | 'n' | 'k';

const NO_LINES: readonly string[] = Object.freeze([]);
const KIND = ['kind', 'kind2', 'kind3', 'kind4', 'kind5', 'kind6'];
const PIECES: Readonly<Record<Text, readonly string[]>> = {
  p: ['p1', 'p2', 'p3', 'p4'],
  r: ['r1', 'r2', 'r3', 'r4'],
  e: ['e1', 'e2', 'e3', 'e4'],
  n: ['n1', 'n2', 'n3', 'n4'],
  k: ['k1', 'k2', 'k3', 'k4'],
};

/** The record of the contract; KEYS.md says what each field of the hash is. */
export function decodeRecord([id, flat, beside]: ShownJob): JobRecord {
  return toRecord(id, toHash(flat), beside);
}

/** @param at the time of the claim, by the storage's clock */
export function decodeClaimed(job: ClaimedJob, at: string): JobRecord {
  const [flat, id, epoch, starts, beside] = typeof job === 'string' ? parted(job) : job;
  const hash = toHash(flat);
  hash.set('is', 'active').set('epoch', epoch).set('starts', starts).set('run', at).delete('percent');
  return toRecord(id, hash, beside);
}

function parted(job: string): Exclude<ClaimedJob, string> {
  const flat = job.split(SEPARATOR);
  const [id, epoch, starts] = flat.splice(-3) as [string, string, string];
  return [flat, id, epoch, starts, null];
}

function toHash(flat: readonly string[]): Hash {
  const hash: Hash = new Map();
  for (let i = 0; i + 1 < flat.length; i += 2) hash.set(flat[i]!, flat[i + 1]!);
  return hash;
}

function toRecord(id: string, hash: Hash, beside: ShownJob[2]): JobRecord {
  const { queue, type, priority, maxAttempts, maxRequeues, timeoutMs, backoff } = parseKind(joined(hash, KIND) ?? '');
  const createdAt = count(hash, 'at');
  return {
    id,
    epoch: count(hash, 'epoch'),
    queue,
    type,
    payload: text(hash, beside, 'p') ?? '',
    state: hash.get('is') as JobState,
    priority,
    dedupeKey: text(hash, beside, 'k'),
    starts: count(hash, 'starts'),
    attempts: count(hash, 'tries'),
    maxAttempts,
    requeues: count(hash, 'requeues'),
    maxRequeues,
    releases: count(hash, 'releases'),
    timeoutMs,
    backoff,
    cancelRequested: hash.has('cancel'),
    createdAt,
    runAt: hash.has('due') ? count(hash, 'due') : createdAt,
    startedAt: hash.has('run') ? Number.parseInt(hash.get('run')!, 10) : null,
    finishedAt: hash.has('ended') ? count(hash, 'ended') : null,
    progress: progress(hash, beside),
    log: (besides(beside, 'log') as readonly string[] | null) ?? NO_LINES,
    result: text(hash, beside, 'r'),
    error: lastError(hash, beside),
  };
}

function progress(hash: Hash, beside: ShownJob[2]): JobProgress | null {
  return hash.has('percent') ? { percent: count(hash, 'percent'), note: text(hash, beside, 'n') } : null;
}

function lastError(hash: Hash, beside: ShownJob[2]): RecordedError | null {
  const code = hash.get('err') as JobErrorCode | undefined;
  return code === undefined ? null : { code, message: text(hash, beside, 'e') ?? '', at: count(hash, 'err_at') };
}

function count(hash: Hash, name: string): number {
  return Number(hash.get(name) ?? 0);
}

/** In pieces in the hash, or whole beside it. */
function text(hash: Hash, beside: ShownJob[2], slot: Text): string | null {
  return joined(hash, PIECES[slot]) ?? (besides(beside, slot) as string | null);
}

function joined(hash: Hash, pieces: readonly string[]): string | null {
  const first = hash.get(pieces[0]!);
  if (first === undefined) return null;
  let whole = first;
  for (let i = 1; hash.has(pieces[i]!); i++) whole += hash.get(pieces[i]!)!;
  return whole;
}

function besides(beside: ShownJob[2], name: string): Beside {
  if (beside === null) return null;
  for (let i = 0; i + 1 < beside.length; i += 2) if (beside[i] === name) return beside[i + 1]!;
  return null;
}
