import type { BackoffBounds, JobError, JobProgress, JobRecord, JobState, Lease } from './job-record.js';

/**
 * What an acknowledged write survives, one vocabulary everywhere (R1): `memory` nothing; `os` kill -9 of the process; `interval` a power
 * cut, but for the last moments; `fsync` a power cut; `replicated` the loss of a machine; `unknown` the storage cannot tell.
 */
export type Durability = 'memory' | 'os' | 'interval' | 'fsync' | 'replicated' | 'unknown';

/** True statements about an adapter: /readyz and the README print them, the conformance kit chooses its chapters by them. */
export interface StorageCapabilities {
  readonly kind: string;
  readonly durability: Durability;
  /** Several processes may open the same storage at once. If false, leases of the own boot are never reaped (R8). */
  readonly shared: boolean;
  /** What was acknowledged is there again after close and open. */
  readonly persistent: boolean;
}

export interface NewJob {
  /** Default: a new UUIDv7. */
  readonly id?: string;
  readonly queue: string;
  readonly type: string;
  readonly payload: string;
  readonly priority?: number;
  /** At most one of `delayMs` (a duration by the storage's clock) and `runAt` (an instant, epoch ms; past = now). */
  readonly delayMs?: number;
  readonly runAt?: number;
  readonly maxAttempts?: number;
  readonly maxRequeues?: number;
  readonly timeoutMs?: number;
  readonly backoff?: BackoffBounds;
  /** At most one living job has it; a second enqueue with the same key answers the first job (R11). */
  readonly dedupeKey?: string;
  /** Digest of the request as its sender wrote it. Only equal fingerprints make a repeated id or key the same request. */
  readonly fingerprint?: string;
}

/** A {@link NewJob} with every default filled in: what adapters receive. */
export interface CheckedJob extends Required<Omit<NewJob, 'runAt' | 'dedupeKey' | 'fingerprint'>> {
  readonly runAt: number | null;
  readonly dedupeKey: string | null;
  readonly fingerprint: string | null;
}

export interface EnqueueOutcome {
  readonly id: string;
  readonly state: JobState;
  readonly queue: string;
  readonly type: string;
  /** False when an earlier equal request had made the job already. */
  readonly created: boolean;
}

export interface ClaimRequest {
  readonly queue: string;
  readonly limit: number;
  /** Who holds the leases, for people who read them; shared adapters keep it. */
  readonly owner: string;
  readonly leaseMs: number;
  /** How long to wait for a first job; default 0. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

export interface ExtendRequest {
  readonly lease: Lease;
  readonly progress?: JobProgress;
  /** Lines to add to the job's log. */
  readonly log?: readonly string[];
}
export type ExtendOutcome = 'held' | 'lost' | 'cancel_requested';

/** What becomes of a failed delivery: another attempt after `retryInMs` (unless it was the last), or dead at once. */
export type NackDisposition = { readonly retryInMs: number } | { readonly dead: true };
export type RequeueReason = 'hung' | 'lease_expired';

export interface ListQuery {
  readonly state?: JobState;
  readonly queue?: string;
  readonly type?: string;
  /** Default 100, at most 1000. */
  readonly limit?: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}
export interface JobPage {
  /** By id, ascending. */
  readonly jobs: readonly JobRecord[];
  readonly nextCursor: string | null;
}

export type JobCounts = Readonly<Record<JobState, number>>;

/** 0 = no limit, everywhere. */
export interface PrunePolicy {
  /** Forget done and cancelled jobs older than this, in monotonic time seen by this store. */
  readonly keepFinishedMs: number;
  /** Keep at most so many done and cancelled jobs. */
  readonly keepFinished: number;
  readonly keepDeadMs: number;
}

export type StorageState = 'closed' | 'opening' | 'open' | 'full' | 'failed' | 'closing';

/** A cheap snapshot; reading it never waits and never touches the backend. */
export interface StorageHealth {
  readonly state: StorageState;
  /** An enqueue would be taken now. */
  readonly writable: boolean;
  /** Why not, in a sentence. */
  readonly reason: string | null;
  /** While opening: how much of the log is replayed, in bytes. */
  readonly replay: { readonly done: number; readonly total: number } | null;
  readonly figures: StorageFigures;
}

/** As far as the kind has them; bytes and milliseconds. */
export interface StorageFigures {
  readonly segments?: number;
  readonly bytes?: number;
  readonly liveBytes?: number;
  readonly liveRatio?: number;
  readonly lastFsyncMs?: number;
  readonly fsyncP50Ms?: number;
  readonly fsyncP99Ms?: number;
}

/** Hints, delivered in the process that subscribed; the calls stay the truth. */
export type StorageEvent =
  | { readonly type: 'cancel_requested'; readonly lease: Lease }
  /** The storage will not take another write until it is opened again. */
  | { readonly type: 'failed'; readonly error: Error };

export type { JobError };
