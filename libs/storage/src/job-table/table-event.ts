import type { JobError, JobProgress, JobState, Lease } from '../contract/index.js';
import type { JobEntry, SettleVerb } from './job-entry.js';

/** Two readings of one moment: the wall clock for instants, the storage's own monotonic clock (it stands still while closed) for durations. */
export interface Now {
  readonly wall: number;
  readonly mono: number;
}

/**
 * Everything that ever changes a table. A verb decides, makes one of these and applies it; a log that keeps them in order and applies them
 * again reaches the same table. Invariant: an event holds the outcome of every decision (epochs, delays, jitter, turns among the ready), so
 * that applying it needs no clock, no chance and no event before it; and the epoch it was decided in, so that applying it once more, to a copy of the job made later, changes nothing.
 */
export type TableEvent =
  PutEvent | ClaimEvent | PromoteEvent | SettleEvent | CancelEvent | RedriveEvent | NoteEvent | PruneEvent | ClockEvent;

/** A whole job: as enqueued, or as a copy that stands for all its events before. */
export interface PutEvent {
  readonly kind: 'put';
  readonly entry: JobEntry;
}

export interface ClaimEvent {
  readonly kind: 'claim';
  readonly at: number;
  readonly leases: readonly Lease[];
}

/** The epochs say which stay in `delayed` ended. */
export interface PromoteEvent {
  readonly kind: 'promote';
  readonly leases: readonly Lease[];
  /** Of the first; the others have the turns behind it. */
  readonly turn: number;
}

/** The end of a delivery. */
export interface SettleEvent {
  readonly kind: 'settle';
  readonly verb: SettleVerb;
  readonly id: string;
  /** Of the lease that ends, and of the job from now on (a requeue raises it). */
  readonly epoch: number;
  readonly nextEpoch: number;
  readonly to: JobState;
  readonly at: number;
  readonly mono: number;
  /** Where `to` is `delayed`. */
  readonly delayMs: number;
  readonly result: string | null;
  readonly error: JobError | null;
  /** Of the arguments, for R4; null when no worker asked for it (reap, reopening). */
  readonly digest: number | null;
  /** Where `to` is `ready`, else 0. */
  readonly turn: number;
}

export interface CancelEvent {
  readonly kind: 'cancel';
  readonly id: string;
  readonly epoch: number;
  readonly at: number;
  readonly mono: number;
}

export interface RedriveEvent {
  readonly kind: 'redrive';
  readonly id: string;
  readonly epoch: number;
  readonly at: number;
  readonly turn: number;
}

/** What a delivery tells about itself, whole: it replaces what was told before. */
export interface NoteEvent {
  readonly kind: 'note';
  readonly id: string;
  readonly epoch: number;
  readonly progress: JobProgress | null;
  readonly log: readonly string[];
}

export interface PruneEvent {
  readonly kind: 'prune';
  readonly ids: readonly string[];
}

/** Carries on what belongs to no job, where a log has lost its beginning: the storage's monotonic clock, the count of turns, the epoch floor. */
export interface ClockEvent {
  readonly kind: 'clock';
  readonly mono: number;
  readonly turn: number;
  /** No epoch given out later is below it. */
  readonly floor: number;
}
