import type { JobRecord } from './job-record.js';
import type { StorageAdapter } from './storage-adapter.js';

/** A job on its way from one storage to another: what a record shows, and what otherwise only its storage knows. Never an active one. */
export interface MovedJob extends JobRecord {
  /** Of the request, so that a repeated one is recognised in the new place too (R11). */
  readonly fingerprint: string | null;
  /** Of a job delayed by a duration: its whole length, so that the rest is never longer (R9). Null: due at the instant `runAt`, or not delayed. */
  readonly delayMs: number | null;
  /** Of a finished job: for how long its storage has seen it finished (R16). */
  readonly finishedForMs: number | null;
}

/** All that a storage holds, as of one moment. */
export interface JobExport {
  readonly total: number;
  /** Each state's jobs in the order in which they leave it. */
  readonly jobs: Iterable<MovedJob>;
  /** No job that comes after these may have an epoch below it, for a forgotten one of the same id may have had that (R3). */
  readonly epochFloor: number;
}

/**
 * What became of a moved job: `imported`; `present`, it was there already (same id, created at the same instant) and stays as it is; `taken`,
 * another job has its id or its dedupe key, and nothing was done.
 */
export type ImportOutcome = 'imported' | 'present' | 'taken';

/** An optional port of an adapter: its jobs can be moved to another storage. */
export interface JobExporter {
  /** To be called before anything was claimed: an adapter with `shared: false` has no active job then. Throws `not_open`. */
  exportJobs(): JobExport;
}

/** An optional port of an adapter: it takes the jobs of another storage. */
export interface JobImporter {
  /**
   * Resolves when the jobs stand behind those that are there, in the given order, durable in the declared class; one outcome each. All fields
   * are kept. What the last settle was (R4) is not moved: nobody holds a lease of a storage that is closed. A call that is repeated, also
   * after `outcome_unknown`, does no more. Rejects `invalid_argument` for an active job, and as `enqueue` does.
   */
  importJobs(jobs: readonly MovedJob[], epochFloor: number): Promise<ImportOutcome[]>;
}

export function isJobExporter(adapter: StorageAdapter): adapter is StorageAdapter & JobExporter {
  return 'exportJobs' in adapter;
}

export function isJobImporter(adapter: StorageAdapter): adapter is StorageAdapter & JobImporter {
  return 'importJobs' in adapter;
}
