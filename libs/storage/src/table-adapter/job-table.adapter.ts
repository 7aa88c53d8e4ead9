import { OrchdError, StorageAdapter, systemClock } from '../contract/index.js';
import type {
  CheckedJob,
  ClaimRequest,
  Clock,
  EnqueueOutcome,
  ExtendOutcome,
  ExtendRequest,
  ImportOutcome,
  JobCounts,
  JobError,
  JobExport,
  JobExporter,
  JobImporter,
  JobPage,
  JobRecord,
  Lease,
  ListQuery,
  MovedJob,
  NackDisposition,
  PrunePolicy,
  RequeueReason,
} from '../contract/index.js';
import { standingOrder, toMovedJob, type JobTable, type JobEntry, type Now, type Settlement, type TableEvent } from '../job-table/index.js';
import { ClaimWaiters } from './claim-waiters.js';
import { DueTimer } from './due-timer.js';

/** How far a kept event has come. Promises of one batch are shared, so asking costs nothing. */
export interface Ticket {
  /** kill -9 of this process would not lose it. */
  written(): Promise<void>;
  /** Durable in the declared class. */
  durable(): Promise<void>;
}

export interface JobTableAdapterOptions {
  readonly clock?: Clock;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

const READ_PATIENCE_MS = 1000;
const NOTE_INTERVAL_MS = 1000;
/** Jobs looked at by one step of a list, so that no step holds the event loop for long. */
const LIST_STEP = 5000;

/**
 * A storage adapter around a JobTable in this process; a subclass says where its events are kept.
 *
 * Invariant: events are kept in the order in which they were applied, so that whoever applies them again reaches this table. Jobs are the
 * exception that R14 asks for: they are kept first and shown when that is durable, which no other event can have referred to before.
 */
export abstract class JobTableAdapter extends StorageAdapter implements JobExporter, JobImporter {
  protected table!: JobTable;
  protected readonly clock: Clock;
  protected readonly random: () => number;
  readonly #waiters: ClaimWaiters;
  readonly #dueTimer: DueTimer;
  /** Active jobs whose last note was taken less than a second after the one before, and not kept yet. */
  readonly #unwrittenNotes = new Set<string>();
  #monoOffset = 0;
  #wakeScheduled = false;

  constructor(options: JobTableAdapterOptions = {}) {
    super();
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
    this.#waiters = new ClaimWaiters(this.clock);
    this.#dueTimer = new DueTimer(this.clock, () => this.wake());
  }

  /** Throws when a write for this purpose would be refused now, so that the table is not changed in vain. */
  protected abstract assertTakes(purpose: 'enqueue' | 'settle'): void;
  protected abstract keep(event: TableEvent): Ticket;
  protected abstract keepJobs(entries: readonly JobEntry[]): Ticket;
  /** The jobs of a ticket are durable and in the table. */
  protected onShown?(entries: readonly JobEntry[], ticket: Ticket): void;
  /** Resolves when everything kept so far is durable; null when it is. */
  protected abstract barrier(): Promise<void> | null;
  /** False while nothing should be handed out, although jobs are ready. */
  protected abstract mayClaim(): boolean;

  exportJobs(): JobExport {
    if (this.lifecycle !== 'open') throw new OrchdError('not_open', `the storage is ${this.lifecycle}`);
    const { ready, delayed, finished } = standingOrder(this.table.jobs.all());
    const entries = [...ready, ...delayed, ...finished];
    const now = this.now();
    return { total: entries.length, jobs: movedJobs(entries, now), epochFloor: this.table.epochFloor };
  }

  importJobs(jobs: readonly MovedJob[], epochFloor: number): Promise<ImportOutcome[]> {
    return this.call(async () => {
      this.assertTakes('enqueue');
      const plan = this.table.jobs.incoming.prepareImport(jobs, this.now());
      if (epochFloor > this.table.epochFloor) {
        this.table.raiseEpochFloor(epochFloor);
        this.keep(this.table.clock(this.now().mono));
      }
      return this.#accept(plan, () => [...plan.outcomes]);
    });
  }

  /** Two readings of this moment; the monotonic one goes on where the storage's last boot ended. */
  protected now(): Now {
    return { wall: this.clock.wallMs(), mono: this.clock.monoMs() + this.#monoOffset };
  }

  protected continueClock(latestMono: number): void {
    this.#monoOffset = latestMono - this.clock.monoMs();
  }

  /** Every opening begins with a table of its own, and with nothing left over from the one before. */
  protected beginWith(table: JobTable): void {
    this.table = table;
    this.#unwrittenNotes.clear();
  }

  /** What handlers told in the last second, at a clean end. */
  protected keepLastWords(): void {
    for (const id of this.#unwrittenNotes) this.#writeNote(id);
  }

  /** Looks for claims that can be served now: at the end of this turn's microtasks, so that one batch of new jobs meets a claim as one. */
  protected wake(): void {
    if (this.#wakeScheduled || this.#waiters.isEmpty) return;
    this.#wakeScheduled = true;
    queueMicrotask(() => {
      this.#wakeScheduled = false;
      this.#serve();
    });
  }

  protected override doClose(): Promise<void> {
    this.#dueTimer.stop();
    this.#waiters.dismiss();
    return Promise.resolve();
  }

  protected override doEnqueue(jobs: readonly CheckedJob[]): Promise<EnqueueOutcome[]> {
    this.assertTakes('enqueue');
    const plan = this.table.prepare(jobs, this.now());
    return this.#accept(plan, () => outcomes(plan.entries, plan.fresh));
  }

  protected override doClaim(request: ClaimRequest): Promise<JobRecord[]> {
    if (request.signal?.aborted) return Promise.resolve([]);
    const taken = this.#take(request);
    if (taken !== null) return taken;
    if (!request.waitMs) return Promise.resolve([]);
    const waiting = this.#waiters.wait(request, request.waitMs);
    this.#armDueTimer();
    return waiting;
  }

  protected override async doExtend(requests: readonly ExtendRequest[]): Promise<ExtendOutcome[]> {
    return requests.map((request) => {
      const outcome = this.table.leaseState(request.lease);
      if (outcome !== 'lost' && (request.progress || request.log?.length)) this.#note(request);
      return outcome;
    });
  }

  protected override doAck(lease: Lease, result: string | null): Promise<void> {
    return this.#settle(lease, (now) => this.table.ack(lease, result, now)).durable();
  }

  protected override doNack(lease: Lease, error: JobError, disposition: NackDisposition): Promise<void> {
    return this.#settle(lease, (now) => this.table.nack(lease, error, disposition, now)).durable();
  }

  protected override async doRelease(lease: Lease, inMs: number): Promise<void> {
    this.#settle(lease, (now) => this.table.release(lease, inMs, now));
  }

  protected override async doRequeue(lease: Lease, reason: RequeueReason): Promise<void> {
    this.#settle(lease, (now) => this.table.requeue(lease, reason, now));
  }

  protected override doReap(): Promise<number> {
    return Promise.resolve(0);
  }

  protected override doGet(id: string): Promise<JobRecord | null> {
    const record = this.table.jobs.get(id)?.toRecord() ?? null;
    return this.#shown(() => record);
  }

  protected override async doList(query: ListQuery): Promise<JobPage> {
    const limit = query.limit ?? 100;
    const jobs: JobRecord[] = [];
    let cursor = query.cursor ?? null;
    for (;;) {
      const { matches, rest } = this.table.jobs.scan(query, cursor, limit - jobs.length, LIST_STEP);
      for (const entry of matches) jobs.push(entry.toRecord());
      cursor = rest;
      if (rest === null || jobs.length === limit) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return this.#shown(() => ({ jobs, nextCursor: cursor }));
  }

  protected override doCounts(): Promise<JobCounts> {
    return Promise.resolve(this.table.counts());
  }

  protected override doCancel(id: string): Promise<JobRecord> {
    this.assertTakes('settle');
    const event = this.table.cancel(id, this.now());
    const record = this.table.jobs.get(id)!.toRecord();
    if (event === null) return this.#shown(() => record);
    const durable = this.keep(event).durable();
    if (record.state === 'active') this.emit({ type: 'cancel_requested', lease: { id, epoch: record.epoch } });
    return durable.then(() => record);
  }

  protected override doRedrive(id: string): Promise<JobRecord> {
    this.assertTakes('enqueue');
    const event = this.table.redrive(id, this.now());
    const record = this.table.jobs.get(id)!.toRecord();
    const durable = this.keep(event).durable();
    this.wake();
    return durable.then(() => record);
  }

  protected override async doPrune(policy: PrunePolicy): Promise<number> {
    this.assertTakes('settle');
    const event = this.table.prune(policy, this.now());
    if (event === null) return 0;
    this.keep(event);
    return event.ids.length;
  }

  /** Keeps the fresh jobs of a plan, shows them once they are durable, and answers. */
  #accept<T>(plan: { readonly fresh: readonly JobEntry[] }, answer: () => T): Promise<T> {
    if (plan.fresh.length === 0) return this.#shown(answer);
    let ticket: Ticket;
    try {
      ticket = this.keepJobs(plan.fresh);
    } catch (error) {
      this.table.abandon(plan);
      throw error;
    }
    return ticket.durable().then(
      () => {
        this.table.commit(plan);
        this.onShown?.(plan.fresh, ticket);
        this.wake();
        return answer();
      },
      (error: unknown) => {
        this.table.abandon(plan);
        throw error;
      },
    );
  }

  #take(request: ClaimRequest): Promise<JobRecord[]> | null {
    if (!this.mayClaim()) return null;
    const now = this.now();
    const promoted = this.table.promote(now);
    if (promoted !== null) {
      this.keep(promoted);
      this.wake(); // the promoted jobs may be of other queues, or more may be due
    }
    const claimed = this.table.claim(request.queue, request.limit, now);
    if (claimed === null) return null;
    const records = claimed.entries.map((entry) => entry.toRecord());
    return this.#handOut(records, this.keep(claimed.event), request.signal);
  }

  /** Resolves once the claim is written, so that a job which kills the process is counted. */
  async #handOut(records: JobRecord[], ticket: Ticket, signal: AbortSignal | undefined): Promise<JobRecord[]> {
    await ticket.written();
    if (!signal?.aborted) return records;
    for (const record of records) this.#giveBack(record);
    return [];
  }

  #giveBack(record: JobRecord): void {
    if (this.table.leaseState(record) !== 'lost') this.#settle(record, (now) => this.table.release(record, 0, now));
  }

  #serve(): void {
    for (const queue of this.#waiters.queues()) this.#waiters.serve(queue, (request) => this.#take(request));
    this.#armDueTimer();
  }

  #armDueTimer(): void {
    if (!this.#waiters.isEmpty) this.#dueTimer.arm(this.table.untilDue(this.now()));
  }

  #settle(lease: Lease, decide: (now: Now) => Settlement): Ticket {
    this.assertTakes('settle');
    if (this.#unwrittenNotes.has(lease.id)) this.#writeNote(lease.id);
    const { event, refused } = decide(this.now());
    if (event === null) return { written: () => Promise.resolve(), durable: () => this.barrier() ?? Promise.resolve() };
    const ticket = this.keep(event);
    if (event.to === 'ready') this.wake();
    else if (event.to === 'delayed') this.#armDueTimer();
    return refused ? refusedTicket(ticket, lease) : ticket;
  }

  #note(request: ExtendRequest): void {
    const { id } = request.lease;
    const event = this.table.note(id, request.progress, request.log ?? []);
    const detail = this.table.jobs.get(id)!.ensureDetail();
    const { mono } = this.now();
    if (mono - detail.notedMono < NOTE_INTERVAL_MS) {
      this.#unwrittenNotes.add(id);
      return;
    }
    this.#unwrittenNotes.delete(id);
    detail.notedMono = mono;
    this.keep(event);
  }

  #writeNote(id: string): void {
    this.#unwrittenNotes.delete(id);
    const entry = this.table.jobs.get(id)!;
    const { progress, log } = entry.ensureDetail();
    this.keep({ kind: 'note', id, epoch: entry.epoch, progress, log });
  }

  /** R14: shows a snapshot once a flush has covered it, or says after a second that the disk is slow. */
  #shown<T>(show: () => T): Promise<T> {
    const covered = this.barrier();
    if (covered === null) return Promise.resolve(show());
    return new Promise((resolve, reject) => {
      const stopTimer = this.clock.setTimer(READ_PATIENCE_MS, () =>
        reject(new OrchdError('storage_slow', `the storage needed more than ${READ_PATIENCE_MS} ms for a flush`)),
      );
      covered.then(() => resolve(show()), reject).finally(stopTimer);
    });
  }
}

function outcomes(entries: readonly JobEntry[], fresh: readonly JobEntry[]): EnqueueOutcome[] {
  const made = fresh.length === entries.length ? null : new Set(fresh);
  return entries.map((entry) => {
    const { id, state, queue, type } = entry;
    const created = made === null || made.delete(entry);
    return { id, state, queue, type, created };
  });
}

function* movedJobs(entries: readonly JobEntry[], now: Now): Generator<MovedJob> {
  for (const entry of entries) yield toMovedJob(entry, now);
}

function refusedTicket(ticket: Ticket, lease: Lease): Ticket {
  const refuse = () => {
    throw new OrchdError('lease_lost', `the cancellation of job ${lease.id} was requested; it is cancelled now`);
  };
  return { written: () => ticket.written().then(refuse), durable: () => ticket.durable().then(refuse) };
}
