import { LIMITS, type Clock, type JobProgress, type Lease } from '../../contract/index.js';

/** What a worker told about itself and Redis has not been told yet. */
export interface Note {
  readonly progress: JobProgress | null;
  readonly log: readonly string[];
}

interface HeldLease {
  readonly epoch: number;
  /** This process's monotonic clock: until then the storage keeps the lease, unless somebody ends it. */
  untilMs: number;
  notedAtMs: number;
  note: Note | null;
}

/** Notes of one job go to Redis at most so often. */
const NOTE_INTERVAL_MS = 1000;
/** As long as no lease was asked for. */
const DEFAULT_LEASE_MS = 10_000;
/** A lease is forgotten when it has been over for as long as it lasted; by then a reaper has taken its job away. */
const FORGET_AFTER_LEASES = 2;

/**
 * The leases that this process has handed out and that nobody has ended yet, as far as it knows. What Redis says this process runs and does
 * not stand here was claimed by a call whose answer got lost.
 */
export class HeldLeases {
  readonly #leases = new Map<string, HeldLease>();
  readonly #clock: Clock;
  #longestMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The longest lease that was asked for: the pace of the audits. */
  get leaseMs(): number {
    return this.#longestMs || DEFAULT_LEASE_MS;
  }

  /** @param sentAtMs when it was asked for: the storage's lease begins later, so it ends later too */
  add(lease: Lease, leaseMs: number, sentAtMs: number): void {
    this.#longestMs = Math.max(this.#longestMs, leaseMs);
    this.#leases.set(lease.id, { epoch: lease.epoch, untilMs: sentAtMs + leaseMs, notedAtMs: -Infinity, note: null });
  }

  has(lease: Lease): boolean {
    return this.#find(lease) !== undefined;
  }

  extended(lease: Lease, leaseMs: number, sentAtMs: number): void {
    const held = this.#find(lease);
    if (held !== undefined) held.untilMs = Math.max(held.untilMs, sentAtMs + leaseMs);
  }

  ended(lease: Lease): void {
    if (this.has(lease)) this.#leases.delete(lease.id);
  }

  /** Forgets leases that nobody ended and nobody prolonged: their workers are gone. */
  sweep(): void {
    const longAgoMs = this.#clock.monoMs() - (FORGET_AFTER_LEASES - 1) * this.leaseMs;
    for (const [id, { untilMs }] of this.#leases) if (untilMs < longAgoMs) this.#leases.delete(id);
  }

  clear(): void {
    this.#leases.clear();
  }

  /** What is to be written now: this note with those that waited, or nothing while the last one is fresh (case H15). */
  note(lease: Lease, progress: JobProgress | undefined, log: readonly string[] = []): Note | null {
    const held = this.#find(lease);
    const added = { progress: progress ?? null, log: lastLines(log) };
    if (held === undefined) return isEmpty(added) ? null : added;
    const { note } = held;
    held.note = note === null ? added : { progress: added.progress ?? note.progress, log: lastLines([...note.log, ...added.log]) };
    const nowMs = this.#clock.monoMs();
    if (nowMs - held.notedAtMs < NOTE_INTERVAL_MS) return null;
    const due = this.takeNote(lease);
    if (due !== null) held.notedAtMs = nowMs;
    return due;
  }

  /** The note that waits: it is written before the delivery ends. */
  takeNote(lease: Lease): Note | null {
    const held = this.#find(lease);
    const note = held?.note ?? null;
    if (held !== undefined) held.note = null;
    return note === null || isEmpty(note) ? null : note;
  }

  /** The leases for which a note waits. */
  noted(): Lease[] {
    return [...this.#leases].filter(([, { note }]) => note !== null).map(([id, { epoch }]) => ({ id, epoch }));
  }

  #find({ id, epoch }: Lease): HeldLease | undefined {
    const held = this.#leases.get(id);
    return held?.epoch === epoch ? held : undefined;
  }
}

function isEmpty({ progress, log }: Note): boolean {
  return progress === null && log.length === 0;
}

/** The lines a job keeps, each cut. */
function lastLines(lines: readonly string[]): readonly string[] {
  return lines.slice(-LIMITS.logLines).map((line) => (line.length <= LIMITS.logLine ? line : line.slice(0, LIMITS.logLine).toWellFormed()));
}
