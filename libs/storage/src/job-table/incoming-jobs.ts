import { InvalidArgumentError, OrchdError, type CheckedJob, type ImportOutcome, type MovedJob } from '../contract/index.js';
import { JobEntry, type JobKeys } from './job-entry.js';
import { fromMovedJob } from './moved-job.js';
import type { Now } from './table-event.js';

/** What an enqueue call will come to, decided and reserved, not yet shown. */
export interface EnqueuePlan {
  /** One per job of the call, in order; equal twins and repeated requests share an entry. */
  readonly entries: readonly JobEntry[];
  /** Those that this call makes. */
  readonly fresh: readonly JobEntry[];
}

/** What an import will come to, likewise. */
export interface ImportPlan {
  readonly outcomes: readonly ImportOutcome[];
  readonly fresh: readonly JobEntry[];
}

/**
 * Ids and dedupe keys of all jobs, shown or on their way to the disk, so that twins meet even while neither is durable (R11, R14).
 * Invariant: a key leads to its job from `prepare` until the job is forgotten or the plan abandoned.
 */
export class IncomingJobs {
  readonly #incoming = new Map<string, JobEntry>();
  readonly #keys = new Map<string, JobEntry>();
  readonly #shown: (id: string) => JobEntry | undefined;

  constructor(shown: (id: string) => JobEntry | undefined) {
    this.#shown = shown;
  }

  /** Throws `conflict`; then nothing is reserved (R12). */
  prepare(jobs: readonly CheckedJob[], now: Now): EnqueuePlan {
    const fresh: JobEntry[] = [];
    try {
      const entries = jobs.map((job) => {
        const twin = this.#twin(job);
        if (twin !== undefined) return twin;
        const entry = newEntry(job, now);
        this.#incoming.set(entry.id, entry);
        this.learnKey(entry);
        fresh.push(entry);
        return entry;
      });
      return { entries, fresh };
    } catch (error) {
      this.abandon(fresh);
      throw error;
    }
  }

  /** Throws `invalid_argument` for an active job; then nothing is reserved. */
  prepareImport(jobs: readonly MovedJob[], now: Now): ImportPlan {
    const active = jobs.find(({ state }) => state === 'active');
    if (active !== undefined) throw new InvalidArgumentError('state', `job ${active.id} is active: its lease cannot be moved`);
    const fresh: JobEntry[] = [];
    const outcomes = jobs.map((job) => {
      const there = this.#shown(job.id) ?? this.#incoming.get(job.id);
      if (there !== undefined) return there.createdAt === job.createdAt ? 'present' : 'taken';
      if (job.dedupeKey !== null && this.#keys.has(job.dedupeKey)) return 'taken';
      const entry = fromMovedJob(job, now);
      this.#incoming.set(entry.id, entry);
      this.learnKey(entry);
      fresh.push(entry);
      return 'imported';
    });
    return { outcomes, fresh };
  }

  /** The jobs are shown from now on; their keys stay. */
  settle(fresh: readonly JobEntry[]): void {
    for (const entry of fresh) this.#incoming.delete(entry.id);
  }

  abandon(fresh: readonly JobEntry[]): void {
    for (const entry of fresh) {
      this.#incoming.delete(entry.id);
      this.forgetKey(entry);
    }
  }

  learnKey(entry: JobEntry): void {
    const key = entry.keys?.dedupeKey;
    if (key != null) this.#keys.set(key, entry);
  }

  forgetKey(entry: JobEntry): void {
    const key = entry.keys?.dedupeKey;
    if (key != null && this.#keys.get(key) === entry) this.#keys.delete(key);
  }

  #twin(job: CheckedJob): JobEntry | undefined {
    const byId = this.#shown(job.id) ?? this.#incoming.get(job.id);
    const byKey = job.dedupeKey === null ? undefined : this.#keys.get(job.dedupeKey);
    const twin = byId ?? byKey;
    if (twin === undefined) return undefined;
    const fingerprint = twin.keys?.fingerprint ?? null;
    const same = fingerprint !== null && fingerprint === job.fingerprint && (byKey ?? twin) === twin;
    if (same) return twin;
    const what = byId === undefined ? `dedupe key ${JSON.stringify(job.dedupeKey)}` : `id ${job.id}`;
    throw new OrchdError('conflict', `a job with ${what} exists already and was requested differently`);
  }
}

function newEntry(job: CheckedJob, now: Now): JobEntry {
  const keys: JobKeys | null =
    job.dedupeKey === null && job.fingerprint === null ? null : { dedupeKey: job.dedupeKey, fingerprint: job.fingerprint };
  const { runAt } = job;
  const delayMs = runAt === null ? job.delayMs : Math.max(0, runAt - now.wall);
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
    now.wall,
    now.wall + delayMs,
    keys,
  );
  if (delayMs > 0) {
    entry.state = 'delayed';
    entry.due = { entry, key: runAt ?? now.mono + delayMs, seq: 0, delayMs, instant: runAt !== null, index: 0 };
  }
  return entry;
}
