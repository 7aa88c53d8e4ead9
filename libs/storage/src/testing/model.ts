import assert from 'node:assert/strict';
import type { ErrorCode, JobError, JobRecord, JobState, Lease, NackDisposition, PrunePolicy, RequeueReason } from '../contract/index.js';
import { isFinal, newModelJob, observe, type ModelJob, type ModelRequest } from './model-job.js';
import { assertOldest, prunable } from './model-prune.js';

/** What a call must come to. */
export type Answer<T> = { readonly value: T } | { readonly refused: ErrorCode };
const DONE: Answer<void> = { value: undefined };

/** Due jobs that one claim makes ready (R10). */
const PROMOTED_BY_A_CLAIM = 100;
const FIRST_REQUEUE_THAT_WAITS = 3;

/**
 * All the rules R1-R16 that one client can see, in the plainest form: an array and loops. It knows nothing of how a storage is built and
 * shares no code with one; where the two disagree, one of them has misread the rules. Chosen for being obviously right, not fast.
 */
export class Model {
  readonly #exact: boolean;
  #jobs: ModelJob[] = [];
  #mono = 0;
  #wall: number;
  #turns = 0;

  /** @param wall what the storage's wall clock shows; @param exact whether the storage's clock is moved together with this one */
  constructor(wall: number, exact: boolean) {
    this.#wall = wall;
    this.#exact = exact;
  }

  get jobs(): readonly Readonly<ModelJob>[] {
    return this.#jobs;
  }

  get mono(): number {
    return this.#mono;
  }

  get wall(): number {
    return this.#wall;
  }

  /** A copy that lives its own life from now on; "now" is that of `clock`, where it is given. */
  fork(clock: Model = this): Model {
    const copy = new Model(clock.#wall, this.#exact);
    copy.#mono = clock.#mono;
    copy.#jobs = this.#jobs.map((job) => ({ ...job }));
    copy.#turns = this.#turns;
    return copy;
  }

  find(id: string): Readonly<ModelJob> | undefined {
    return this.#find(id);
  }

  advance(ms: number): void {
    this.#mono += ms;
    this.#wall += ms;
  }

  jumpWall(ms: number): void {
    this.#wall += ms;
  }

  // The verbs -----------------------------------------------------------------------------------------------------------------------

  /** R11, R12. */
  enqueue(requests: readonly ModelRequest[]): Answer<{ id: string; state: JobState; created: boolean }[]> {
    const fresh: ModelJob[] = [];
    const answers: { job: ModelJob; created: boolean }[] = [];
    for (const request of requests) {
      const known = [...this.#jobs, ...fresh];
      const byId = known.find(({ id }) => id === request.id);
      const byKey = known.find((job) => request.dedupeKey !== undefined && job.request.dedupeKey === request.dedupeKey);
      const first = byId ?? byKey;
      if (first === undefined) {
        const job = newModelJob(request, this.#wall);
        fresh.push(job);
        answers.push({ job, created: true });
      } else {
        const same = first.request.fingerprint !== undefined && first.request.fingerprint === request.fingerprint;
        if (!same || (byKey !== undefined && byKey !== first)) return { refused: 'conflict' };
        answers.push({ job: first, created: false });
      }
    }
    for (const job of fresh) {
      this.#jobs.push(job);
      if (job.request.runAt !== undefined && job.request.runAt > this.#wall) this.#waitUntil(job, job.request.runAt);
      else this.#waitFor(job, job.request.delayMs ?? 0);
      if (job.state === 'ready') job.runAt = job.createdAt;
    }
    return { value: answers.map(({ job, created }) => ({ id: job.id, state: job.state, created })) };
  }

  /** R3, R10: judges what a claim gave, because jobs of the same turn may come in any order. */
  claim(queue: string, limit: number, records: readonly JobRecord[]): void {
    this.#promote();
    const waiting = this.#jobs.filter((job) => job.state === 'ready' && job.request.queue === queue);
    assert.equal(records.length, Math.min(limit, waiting.length), `a claim of ${limit} from ${waiting.length} ready jobs of ${queue}`);
    for (const record of records) {
      const job = this.#find(record.id);
      assert.ok(job?.state === 'ready' && job.request.queue === queue, `the claimed job ${record.id} was ready in ${queue}`);
      for (const other of waiting) {
        const before = other.priority > job.priority || (other.priority === job.priority && other.turn < job.turn);
        assert.ok(other.state !== 'ready' || !before, `${other.id} is claimed before ${job.id}`);
      }
      job.state = 'active';
      job.starts++;
      job.startedAt = this.#wall;
      job.due = null;
      job.lastSettle = null;
      job.unknown = { epochAbove: job.epoch };
      observe(job, record, this.#exact);
    }
  }

  extend(lease: Lease): 'held' | 'lost' | 'cancel_requested' {
    const job = this.#find(lease.id);
    if (job?.state !== 'active' || job.epoch !== lease.epoch) return 'lost';
    return job.cancelRequested ? 'cancel_requested' : 'held';
  }

  ack(lease: Lease, result: string | null): Answer<void> {
    const cancelled = this.extend(lease) === 'cancel_requested';
    const answer = this.#settle(lease, JSON.stringify(['ack', result]), (job) => {
      this.#finish(job, 'done');
      job.result = result;
    });
    if (!cancelled) return answer;
    this.#find(lease.id)!.lastSettle = null;
    return { refused: 'lease_lost' };
  }

  /** R5. */
  nack(lease: Lease, error: JobError, disposition: NackDisposition): Answer<void> {
    return this.#settle(
      lease,
      JSON.stringify(['nack', error.code, error.message, disposition]),
      (job) => {
        job.attempts++;
        if ('dead' in disposition || job.attempts >= job.maxAttempts) this.#finish(job, 'dead');
        else this.#waitFor(job, disposition.retryInMs);
      },
      { ...error, at: this.#wall },
    );
  }

  release(lease: Lease, inMs: number): Answer<void> {
    return this.#settle(lease, JSON.stringify(['release', inMs]), (job) => {
      job.releases++;
      this.#waitFor(job, inMs);
    });
  }

  requeue(lease: Lease, reason: RequeueReason): Answer<void> {
    return this.#settle(lease, JSON.stringify(['requeue', reason]), (job) => this.#takeAway(job), this.#reason(reason), true);
  }

  cancel(id: string): Answer<void> {
    const job = this.#find(id);
    if (job === undefined) return { refused: 'not_found' };
    if (isFinal(job.state)) return { refused: 'already_finished' };
    if (job.state === 'active') {
      job.cancelRequested = true;
    } else {
      job.lastSettle = null;
      this.#finish(job, 'cancelled');
    }
    return DONE;
  }

  redrive(id: string): Answer<void> {
    const job = this.#find(id);
    if (job === undefined) return { refused: 'not_found' };
    if (job.state !== 'dead') return { refused: 'not_dead' };
    job.starts = job.attempts = job.requeues = job.releases = 0;
    job.finishedAt = job.finished = job.lastSettle = null;
    this.#ready(job);
    return DONE;
  }

  /** R16: how many a step forgets. Which ones of the same age is open: `forget` judges that. */
  prunable(policy: PrunePolicy): number {
    return prunable(this.#jobs, policy, this.#mono);
  }

  /** The storage has forgotten these jobs. */
  forget(ids: ReadonlySet<string>): void {
    const gone = this.#jobs.filter(({ id }) => ids.has(id));
    this.#jobs = this.#jobs.filter(({ id }) => !ids.has(id));
    assertOldest(gone, this.#jobs);
  }

  /** The storage was closed, or died, and is open again: no lease of the time before is good any more (R6, R9). */
  reopen(): void {
    const turn = ++this.#turns;
    for (const job of this.#jobs) {
      if (job.due?.clock === 'mono') {
        const rest = Math.min(job.runAt! - this.#wall, job.due.lengthMs); // what is overdue stays overdue by as much
        job.due = { ...job.due, at: this.#mono + rest };
      }
      if (job.finished !== null) job.finished = { ...job.finished, latest: this.#mono };
      if (job.state !== 'active') continue;
      const takeAway = (): void => {
        this.#takeAway(job);
        job.turn = turn; // in no order among each other
      };
      this.#end(job, takeAway, this.#reason('lease_expired'), true);
    }
  }

  // What can be seen ----------------------------------------------------------------------------------------------------------------

  observe(record: JobRecord): void {
    const job = this.#find(record.id);
    assert.ok(job !== undefined, `the storage shows ${record.id}, which should not be there`);
    observe(job, record, this.#exact);
  }

  observeAll(records: readonly JobRecord[]): void {
    const ids = this.#jobs.map(({ id }) => id).sort();
    assert.deepEqual(
      records.map(({ id }) => id),
      ids,
      'the storage keeps the jobs that the model keeps',
    );
    for (const record of records) this.observe(record);
  }

  counts(): Record<JobState, number> {
    const counts = { delayed: 0, ready: 0, active: 0, done: 0, dead: 0, cancelled: 0 };
    for (const { state } of this.#jobs) counts[state]++;
    return counts;
  }

  // Transitions ---------------------------------------------------------------------------------------------------------------------

  /** R3, R4. */
  #settle(lease: Lease, call: string, effect: (job: ModelJob) => void, error?: ModelJob['error'], raises = false): Answer<void> {
    const job = this.#find(lease.id);
    if (job?.state === 'active' && job.epoch === lease.epoch) {
      this.#end(job, effect, error, raises);
      job.lastSettle = { epoch: lease.epoch, call };
      return DONE;
    }
    const repeated = job?.lastSettle?.epoch === lease.epoch && job.lastSettle.call === call;
    return repeated ? DONE : { refused: 'lease_lost' };
  }

  #end(job: ModelJob, effect: (job: ModelJob) => void, error: ModelJob['error'] | undefined, raises: boolean): void {
    if (error !== undefined) job.error = error;
    job.unknown = raises ? { epochAbove: job.epoch, message: true } : {};
    if (job.cancelRequested) this.#finish(job, 'cancelled');
    else effect(job);
  }

  /** R6. */
  #takeAway(job: ModelJob): void {
    const n = ++job.requeues;
    if (n > job.maxRequeues) return this.#finish(job, 'dead');
    const lowMs = n < FIRST_REQUEUE_THAT_WAITS ? 0 : Math.min(job.backoff.capMs, job.backoff.baseMs * 2 ** (n - 1));
    if (lowMs === 0) return this.#ready(job);
    job.state = 'delayed';
    job.unknown = { ...job.unknown, wait: { mono: this.#mono, lowMs, highMs: Math.ceil(lowMs * 1.5) } };
  }

  #reason(code: RequeueReason): ModelJob['error'] {
    return { code, message: '', at: this.#wall };
  }

  #waitFor(job: ModelJob, ms: number): void {
    if (ms === 0) return this.#ready(job);
    job.state = 'delayed';
    job.runAt = this.#wall + ms;
    job.due = { clock: 'mono', at: this.#mono + ms, lengthMs: ms };
  }

  #waitUntil(job: ModelJob, instant: number): void {
    job.state = 'delayed';
    job.runAt = instant;
    job.due = { clock: 'wall', at: instant };
  }

  #ready(job: ModelJob): void {
    job.state = 'ready';
    job.runAt = null;
    job.due = null;
    job.turn = ++this.#turns;
  }

  /** R10: the job that is late by most goes first. Where only the storage's clock knows the order, all that are due share a turn. */
  #promote(): void {
    const late = (job: ModelJob): number => (job.due!.clock === 'mono' ? this.#mono : this.#wall) - job.due!.at;
    const due = this.#jobs.filter((job) => job.state === 'delayed' && late(job) >= 0).sort((a, b) => late(b) - late(a));
    let latest = Infinity;
    for (const job of due.slice(0, PROMOTED_BY_A_CLAIM)) {
      if (this.#exact ? late(job) < latest : latest === Infinity) this.#turns++;
      latest = late(job);
      job.state = 'ready';
      job.turn = this.#turns;
    }
  }

  #finish(job: ModelJob, state: 'done' | 'dead' | 'cancelled'): void {
    job.state = state;
    job.due = null;
    job.finishedAt = this.#wall;
    job.finished = { latest: this.#mono, earliest: this.#mono };
  }

  #find(id: string): ModelJob | undefined {
    return this.#jobs.find((job) => job.id === id);
  }
}
