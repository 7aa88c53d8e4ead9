import { backoffDelayMs, LIMITS, OrchdError } from '../contract/index.js';
import type {
  CheckedJob,
  ExtendOutcome,
  JobCounts,
  JobError,
  JobProgress,
  JobState,
  Lease,
  NackDisposition,
  PrunePolicy,
  RequeueReason,
} from '../contract/index.js';
import { argumentDigest } from './argument-digest.js';
import type { EnqueuePlan } from './incoming-jobs.js';
import type { JobEntry, SettleVerb } from './job-entry.js';
import { JobStore } from './job-store.js';
import type { Shelves } from './shelves.js';
import { applyCancel, applyNote, applyRedrive, applySettle, applyStart, mergeLog, restartDelay } from './transitions.js';
import { isFinal, REQUEUE_MESSAGES, waiting } from './transitions.js';
import type {
  CancelEvent,
  ClaimEvent,
  ClockEvent,
  NoteEvent,
  Now,
  PromoteEvent,
  PruneEvent,
  RedriveEvent,
  SettleEvent,
  TableEvent,
} from './table-event.js';

/** What a settle call came to. */
export interface Settlement {
  /** To be kept; null when the call repeats one that was taken already. */
  readonly event: SettleEvent | null;
  /** The delivery ended, but not as the caller wished: an ack of a job whose cancellation was requested. */
  readonly refused: boolean;
}

const REPEATED: Settlement = { event: null, refused: false };

/**
 * The state machine of all jobs of one storage: pure, synchronous, without a clock of its own. A verb checks, decides, applies and returns
 * the event it applied; `apply` alone replays a log. Enqueue is in two steps, so that a job is seen only once it is durable (R14):
 * `prepare` checks and reserves, `commit` shows. Between `beginReplay` and `endReplay` events change jobs but shelve nothing.
 */
export class JobTable {
  readonly jobs: JobStore;
  readonly #shelves: Shelves;
  readonly #random: () => number;
  #epochFloor = 0;
  #latestMono = 0;

  /**
   * @param options.random uniform in [0, 1), for the jitter of requeues
   * @param options.onForget is told of every job that leaves the table
   */
  constructor(options: { random: () => number; onForget?: (entry: JobEntry) => void }) {
    this.#random = options.random;
    this.jobs = new JobStore(options.onForget);
    this.#shelves = this.jobs.shelves;
  }

  /** The latest storage clock seen in an event: where that clock goes on after a replay. */
  get latestMono(): number {
    return this.#latestMono;
  }

  /** What a log that forgets its beginning must say again (see `ClockEvent`). */
  clock(mono: number): ClockEvent {
    return { kind: 'clock', mono, turn: this.#shelves.latestTurn, floor: this.#epochFloor };
  }

  /** Every epoch that was given out is below it, but for those of the jobs that are here. */
  get epochFloor(): number {
    return this.#epochFloor;
  }

  raiseEpochFloor(floor: number): void {
    this.#epochFloor = Math.max(this.#epochFloor, floor);
  }

  counts(): JobCounts {
    return { ...this.#shelves.counts };
  }

  // Enqueue -------------------------------------------------------------------------------------------------------------------------

  /** Throws `conflict`; then nothing is reserved. */
  prepare(jobs: readonly CheckedJob[], now: Now): EnqueuePlan {
    return this.jobs.incoming.prepare(jobs, now);
  }

  /** Shows the fresh jobs of a plan. */
  commit(plan: Pick<EnqueuePlan, 'fresh'>): void {
    this.jobs.incoming.settle(plan.fresh);
    for (const entry of plan.fresh) this.jobs.insert(entry);
  }

  /** The plan could not be kept: as if it had never been. */
  abandon(plan: Pick<EnqueuePlan, 'fresh'>): void {
    this.jobs.incoming.abandon(plan.fresh);
  }

  // Claim ---------------------------------------------------------------------------------------------------------------------------

  /** Due jobs of all queues become ready, in due order, at most 100 a call (R10). */
  promote(now: Now): PromoteEvent | null {
    const leases: Lease[] = [];
    const turn = this.#shelves.latestTurn + 1;
    for (let entry = this.#shelves.nextDue(now); entry !== undefined; entry = this.#shelves.nextDue(now)) {
      this.#shelves.move(entry, 'ready');
      if (leases.push({ id: entry.id, epoch: entry.epoch }) === LIMITS.promote) break;
    }
    return leases.length === 0 ? null : { kind: 'promote', leases, turn };
  }

  claim(queue: string, limit: number, now: Now): { readonly event: ClaimEvent; readonly entries: JobEntry[] } | null {
    const entries: JobEntry[] = [];
    const leases: Lease[] = [];
    while (entries.length < limit) {
      const entry = this.#shelves.takeReady(queue);
      if (entry === undefined) break;
      applyStart(entry, this.#nextEpoch(entry), now.wall);
      entries.push(entry);
      leases.push({ id: entry.id, epoch: entry.epoch });
    }
    return entries.length === 0 ? null : { event: { kind: 'claim', at: now.wall, leases }, entries };
  }

  hasReady(queue: string): boolean {
    return this.#shelves.hasReady(queue);
  }

  /** Ms until the next delayed job is due by the monotonic and by the wall clock, Infinity for none. */
  untilDue(now: Now): { readonly duration: number; readonly instant: number } {
    return this.#shelves.untilDue(now);
  }

  // The end of a delivery: all throw `lease_lost` ------------------------------------------------------------------------------------

  ack(lease: Lease, result: string | null, now: Now): Settlement {
    const digest = argumentDigest(result);
    const entry = this.#holder(lease, 'ack', digest);
    if (entry === null) return REPEATED;
    if (entry.detail!.cancelRequested) return { event: this.#settle(entry, 'ack', 'cancelled', now, { digest: null }), refused: true };
    return { event: this.#settle(entry, 'ack', 'done', now, { digest, result }), refused: false };
  }

  nack(lease: Lease, error: JobError, disposition: NackDisposition, now: Now): Settlement {
    const retryInMs = 'retryInMs' in disposition ? disposition.retryInMs : null;
    const digest = argumentDigest(`${error.code} ${retryInMs ?? 'dead'} ${error.message}`);
    const entry = this.#holder(lease, 'nack', digest);
    if (entry === null) return REPEATED;
    const last = retryInMs === null || entry.attempts + 1 >= entry.maxAttempts;
    const delayMs = retryInMs ?? 0;
    return { event: this.#settle(entry, 'nack', last ? 'dead' : waiting(delayMs), now, { digest, error, delayMs }), refused: false };
  }

  release(lease: Lease, inMs: number, now: Now): Settlement {
    const digest = argumentDigest(String(inMs));
    const entry = this.#holder(lease, 'release', digest);
    if (entry === null) return REPEATED;
    return { event: this.#settle(entry, 'release', waiting(inMs), now, { digest, delayMs: inMs }), refused: false };
  }

  requeue(lease: Lease, reason: RequeueReason, now: Now): Settlement {
    const digest = argumentDigest(reason);
    const entry = this.#holder(lease, 'requeue', digest);
    return entry === null ? REPEATED : { event: this.#takeAway(entry, reason, digest, now), refused: false };
  }

  leaseState(lease: Lease): ExtendOutcome {
    const entry = this.jobs.get(lease.id);
    if (entry?.state !== 'active' || entry.epoch !== lease.epoch) return 'lost';
    return entry.detail!.cancelRequested ? 'cancel_requested' : 'held';
  }

  /** Adds progress and log lines to a job that is active. */
  note(id: string, progress: JobProgress | undefined, log: readonly string[]): NoteEvent {
    const entry = this.jobs.get(id)!;
    const detail = entry.ensureDetail();
    const event: NoteEvent = {
      kind: 'note',
      id,
      epoch: entry.epoch,
      progress: progress ?? detail.progress,
      log: mergeLog(detail.log, log),
    };
    this.apply(event);
    return event;
  }

  // Operators -----------------------------------------------------------------------------------------------------------------------

  /** Null when the cancellation of an active job is requested already. Throws `not_found`, `already_finished`. */
  cancel(id: string, now: Now): CancelEvent | null {
    const entry = this.#known(id);
    if (isFinal(entry.state)) {
      throw new OrchdError('already_finished', `job ${id} is already ${entry.state}`);
    }
    if (entry.detail?.cancelRequested) return null;
    const event: CancelEvent = { kind: 'cancel', id, epoch: entry.epoch, at: now.wall, mono: now.mono };
    this.apply(event);
    return event;
  }

  /** Throws `not_found`, `not_dead`. */
  redrive(id: string, now: Now): RedriveEvent {
    const entry = this.#known(id);
    if (entry.state !== 'dead') throw new OrchdError('not_dead', `job ${id} is ${entry.state}, not dead`);
    const event: RedriveEvent = { kind: 'redrive', id, epoch: entry.epoch, at: now.wall, turn: this.#shelves.takeTurn() };
    this.apply(event);
    return event;
  }

  /** Forgets at most 1,000 jobs (R16). The floor rises over their epochs, so that a job which takes such an id gives out none of them again. */
  prune(policy: PrunePolicy, now: Now): PruneEvent | null {
    const { counts } = this.#shelves;
    const tooOld = (entry: JobEntry, keepMs: number) => keepMs > 0 && now.mono - entry.detail!.finishedMono > keepMs;
    const tooMany = () => policy.keepFinished > 0 && counts.done + counts.cancelled > policy.keepFinished;
    const ids: string[] = [];
    while (ids.length < LIMITS.prune) {
      const entry =
        this.#shelves.takeFinished((finished) => tooMany() || tooOld(finished, policy.keepFinishedMs)) ??
        this.#shelves.takeDead((dead) => tooOld(dead, policy.keepDeadMs));
      if (entry === undefined) break;
      this.jobs.remove(entry);
      this.raiseEpochFloor(entry.epoch + 1);
      ids.push(entry.id);
    }
    return ids.length === 0 ? null : { kind: 'prune', ids };
  }

  // Replay --------------------------------------------------------------------------------------------------------------------------

  beginReplay(): void {
    this.#shelves.beginReplay();
  }

  /**
   * Applies an event that this table, or an earlier one on the same log, has decided. Events of jobs that are not there are passed over: a
   * cleaner may have dropped the segment with the job's record, after the job was pruned or copied further on. So are events that a job has
   * behind it: on a full disk a cleaner's copy may overtake them.
   */
  apply(event: TableEvent): void {
    switch (event.kind) {
      case 'put':
        return this.#restore(event.entry);
      case 'claim':
        for (const lease of event.leases) this.#replayStart(lease, event.at);
        return;
      case 'promote':
        event.leases.forEach((lease, i) => this.#replayPromote(lease, event.turn + i));
        return;
      case 'prune':
        for (const id of event.ids) {
          this.raiseEpochFloor((this.jobs.get(id)?.epoch ?? 0) + 1);
          this.#removeId(id);
        }
        return;
      case 'clock':
        this.#shelves.sawTurn(event.turn);
        this.raiseEpochFloor(event.floor);
        return this.#sawMono(event.mono);
      default: {
        if ('turn' in event) this.#shelves.sawTurn(event.turn);
        const entry = this.jobs.get(event.id);
        if (entry?.epoch === event.epoch) this.#applyTo(entry, event);
      }
    }
  }

  /**
   * Every job takes its place, in its own order, and what was active in the boot that ended is taken away from it (R6).
   *
   * @returns the events of that, to be kept
   */
  endReplay(now: Now, epochFloor: number): SettleEvent[] {
    this.raiseEpochFloor(epochFloor);
    const active = this.#shelves.endReplay(this.jobs.all(), (entry) => restartDelay(entry, now));
    return active.map((entry) => this.#takeAway(entry, 'lease_expired', null, now));
  }

  #known(id: string): JobEntry {
    const entry = this.jobs.get(id);
    if (entry === undefined) throw new OrchdError('not_found', `there is no job ${id}`);
    return entry;
  }

  #nextEpoch(entry: JobEntry): number {
    return Math.max(entry.epoch + 1, this.#epochFloor);
  }

  /** The entry, if the lease holds it; null if this very call was taken before (R4). */
  #holder(lease: Lease, verb: SettleVerb, digest: number): JobEntry | null {
    const entry = this.jobs.get(lease.id);
    if (entry?.epoch === lease.epoch && entry.state === 'active') return entry;
    const mark = entry?.detail?.mark;
    if (mark?.epoch === lease.epoch && mark.verb === verb && mark.digest === digest) return null;
    throw new OrchdError('lease_lost', `the lease of job ${lease.id} with epoch ${lease.epoch} has ended`);
  }

  #takeAway(entry: JobEntry, reason: RequeueReason, digest: number | null, now: Now): SettleEvent {
    const n = entry.requeues + 1;
    const delayMs = n < 3 ? 0 : backoffDelayMs(entry.backoff, n, this.#random);
    const to = n > entry.maxRequeues ? 'dead' : waiting(delayMs);
    return this.#settle(entry, 'requeue', to, now, { digest, delayMs, error: { code: reason, message: REQUEUE_MESSAGES[reason] } });
  }

  #settle(entry: JobEntry, verb: SettleVerb, wanted: JobState, now: Now, rest: SettleArguments): SettleEvent {
    const to = entry.detail!.cancelRequested ? 'cancelled' : wanted;
    const event: SettleEvent = {
      kind: 'settle',
      verb,
      id: entry.id,
      epoch: entry.epoch,
      nextEpoch: verb === 'requeue' ? this.#nextEpoch(entry) : entry.epoch,
      to,
      at: now.wall,
      mono: now.mono,
      delayMs: to === 'delayed' ? (rest.delayMs ?? 0) : 0,
      result: rest.result ?? null,
      error: rest.error ?? null,
      digest: rest.digest,
      turn: to === 'ready' ? this.#shelves.takeTurn() : 0,
    };
    applySettle(entry, event);
    this.#place(entry, event);
    return event;
  }

  #place(entry: JobEntry, event: SettleEvent): void {
    if (event.to !== 'delayed') return this.#shelves.move(entry, event.to, null, event.turn);
    const { at, mono, delayMs } = event;
    entry.runAt = at + delayMs;
    this.#shelves.move(entry, 'delayed', { entry, key: mono + delayMs, seq: 0, delayMs, instant: false, index: 0 });
  }

  #applyTo(entry: JobEntry, event: SettleEvent | CancelEvent | RedriveEvent | NoteEvent): void {
    if (event.kind === 'note') return applyNote(entry, event);
    if (event.kind === 'redrive') {
      if (entry.state !== 'dead') return;
      applyRedrive(entry);
      return this.#shelves.move(entry, 'ready', null, event.turn);
    }
    this.#sawMono(event.mono);
    if (event.kind === 'settle') {
      if (entry.state !== 'active') return;
      applySettle(entry, event);
      return this.#place(entry, event);
    }
    if (isFinal(entry.state)) return;
    applyCancel(entry, event);
    if (entry.state !== 'active') this.#shelves.move(entry, 'cancelled');
  }

  #restore(entry: JobEntry): void {
    this.#removeId(entry.id);
    this.jobs.incoming.learnKey(entry);
    if (entry.detail !== null) this.#sawMono(entry.detail.finishedMono);
    this.jobs.insert(entry);
  }

  #removeId(id: string): void {
    const entry = this.jobs.get(id);
    if (entry !== undefined) this.jobs.remove(entry);
  }

  #replayStart(lease: Lease, at: number): void {
    const entry = this.jobs.get(lease.id);
    if (!entry || lease.epoch <= entry.epoch) return;
    this.#shelves.move(entry, 'active');
    applyStart(entry, lease.epoch, at);
  }

  #replayPromote(lease: Lease, turn: number): void {
    const entry = this.jobs.get(lease.id);
    this.#shelves.sawTurn(turn);
    if (entry?.state === 'delayed' && entry.epoch === lease.epoch) this.#shelves.move(entry, 'ready', null, turn);
  }

  #sawMono(mono: number): void {
    if (mono > this.#latestMono) this.#latestMono = mono;
  }
}

interface SettleArguments {
  readonly digest: number | null;
  readonly delayMs?: number;
  readonly result?: string | null;
  readonly error?: JobError | null;
}
