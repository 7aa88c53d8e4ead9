/*
 * Moves all jobs of a log to another storage. Apart from `index.ts`, which loads Nest, and beside `wal-tools.ts`: it works on the folder of
 * an orchd that is stopped.
 */
import path from 'node:path';
import { assertApart, assertHoldsLog, readMarker, writeMarker } from './adapters/wal/wal-tools.js';
import { InvalidArgumentError, isJobExporter, isJobImporter, OrchdError, systemClock, type Durability } from './contract/index.js';
import type { JobExporter, JobImporter, MovedJob, StorageAdapter } from './contract/index.js';
import { createStorage } from './storage.factory.js';
import { resolveStorageSettings, type ResolvedStorageSettings, type StorageSettings } from './storage.settings.js';

export { OrchdError };
export type { StorageSettings };

export interface Migration {
  /** Folder of the log whose jobs are moved. Nobody may have it open. */
  readonly from: string;
  /** Where they go: `wal` or `redis`, with what that needs. Others may work there meanwhile. */
  readonly to: StorageSettings;
  /** Move them although the folder is marked as moved to another place. */
  readonly force?: boolean;
  /** Told of every step, in jobs. */
  readonly onProgress?: (done: number, total: number) => void;
  readonly warn?: (message: string, details: object) => void;
}

export interface MigrationReport {
  /** The target, for people: without password. */
  readonly to: string;
  /** Of the target, as it declares itself. */
  readonly durability: Durability;
  readonly total: number;
  /** Moved now. */
  readonly imported: number;
  /** Were there already, from an earlier run, and were left as they are. */
  readonly present: number;
  /** Could not be moved: the target has other jobs with their id or dedupe key. */
  readonly taken: readonly string[];
}

/** Opening Redis waits for a server that is not there; a person in front of a terminal does not. */
const PATIENCE_MS = 5000;
/** What one call moves: little enough that nobody else on the target waits for it. */
const STEP_JOBS = 250;
const STEP_CHARACTERS = 1024 * 1024;

/**
 * Resolves when every job that could be moved is durable in the target. What ran when the log was left is requeued first, as a start does
 * (R6), so nothing that is moved is active. The folder is marked MIGRATED before the first job is moved, so that no orchd works on what is
 * half moved; the jobs in it stay. Interrupted or repeated, it moves what is missing and changes nothing else.
 *
 * Rejects `invalid_argument`, `storage_locked`, `storage_damaged`, `storage_unavailable` as opening the two does; `storage_migrated` when the
 * folder was moved to another place; and as an enqueue does when the target takes no more.
 */
export async function migrate({ from, to, force = false, onProgress = () => undefined, warn }: Migration): Promise<MigrationReport> {
  const settings = resolveStorageSettings(to);
  await assertHoldsLog(from);
  if (settings.storage === 'wal') await assertApart(from, settings.dataDir);
  const hooks = warn === undefined ? {} : { warn };
  const source = await createStorage({ storage: 'wal', dataDir: from, force: true, ...hooks });
  const target = await createStorage({ ...to, ...hooks });
  if (!isJobExporter(source) || !isJobImporter(target) || !target.capabilities.persistent)
    throw new InvalidArgumentError('to', `jobs cannot be moved to ${settings.storage}`);
  const place = placeOf(settings);
  try {
    await source.open();
    const marked = await readMarker(from);
    if (marked !== null && marked.to !== place && !force)
      throw new OrchdError('storage_migrated', `the jobs of ${from} were moved to ${marked.to} before: --force moves them to ${place} too`);
    await openPatiently(target);
    const begunAt = instant();
    // A move that has ended stays so while it is looked through again.
    const ended = marked?.to === place && marked.finishedAt !== null;
    if (!ended) await writeMarker(from, { to: place, begunAt, finishedAt: null });
    const report = await copy(source, target, onProgress);
    if (!ended && report.taken.length === 0) await writeMarker(from, { to: place, begunAt, finishedAt: instant() });
    return { to: place, durability: target.capabilities.durability, ...report };
  } finally {
    await target.close();
    await source.close();
  }
}

async function copy(source: JobExporter, target: JobImporter, onProgress: (done: number, total: number) => void) {
  const { jobs, total, epochFloor } = source.exportJobs();
  const taken: string[] = [];
  let done = 0;
  let imported = 0;
  for (const step of steps(jobs)) {
    const outcomes = await target.importJobs(step, epochFloor);
    outcomes.forEach((outcome, i) => {
      if (outcome === 'imported') imported++;
      else if (outcome === 'taken') taken.push(step[i]!.id);
    });
    onProgress((done += step.length), total);
  }
  return { total, imported, present: total - imported - taken.length, taken };
}

/** At least one, for the epoch floor is moved even where there is no job. */
function* steps(jobs: Iterable<MovedJob>): Generator<MovedJob[]> {
  let step: MovedJob[] = [];
  let characters = 0;
  for (const job of jobs) {
    step.push(job);
    characters += job.payload.length + (job.result?.length ?? 0);
    if (step.length < STEP_JOBS && characters < STEP_CHARACTERS) continue;
    yield step;
    step = [];
    characters = 0;
  }
  yield step;
}

async function openPatiently(target: StorageAdapter): Promise<void> {
  // A timer that keeps the process alive: while Redis is not there nothing else does.
  const patience = setTimeout(() => void target.close(), PATIENCE_MS);
  try {
    await target.open();
  } finally {
    clearTimeout(patience);
  }
}

/** The target as people write it, and as the marker keeps it. */
function placeOf({ storage, dataDir, redisUrl, redisPrefix }: ResolvedStorageSettings): string {
  if (storage !== 'redis') return `${storage}:${path.resolve(dataDir)}`;
  return `${redisUrl.replace(/^([a-z+]+:\/\/)[^/]*@/, '$1')} (prefix ${redisPrefix})`;
}

function instant(): string {
  return new Date(systemClock.wallMs()).toISOString();
}
