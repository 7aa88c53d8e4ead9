import { randomBytes } from 'node:crypto';
import { LIMITS, OrchdError, StorageAdapter, systemClock } from '../../contract/index.js';
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
  JobImporter,
  JobPage,
  JobRecord,
  Lease,
  ListQuery,
  MovedJob,
  NackDisposition,
  PrunePolicy,
  RequeueReason,
  StorageCapabilities,
  StorageHealth,
} from '../../contract/index.js';
import { AuditCalls } from './audit-calls.js';
import { Auditor } from './auditor.js';
import { Bell } from './bell.js';
import { CallWindow } from './call-window.js';
import { ClaimDesk, type ClaimOp, type ClaimReply } from './claim-desk.js';
import { ackOp, CANCEL_REQUESTED, extendOp, LOST, nackOp, noteOp, releaseOp, requeueOp, weighOp, type DeliveryOp } from './delivery-ops.js';
import { decodeReply, weighCall, type EnqueueCall, type EnqueueReply } from './enqueue-calls.js';
import { HeldLeases } from './held-leases.js';
import { listJobs } from './job-lister.js';
import { KeyNames } from './key-names.js';
import { Lane } from './lane.js';
import { RedisConnections } from './redis-connections.js';
import { DEFAULT_PREFIX, type RedisStorageOptions } from './redis-options.js';
import { ScriptCalls, type Operated } from './script-calls.js';

/** A read that Redis has not answered by then is refused: nobody waits longer for a look (R14). */
const READ_PATIENCE_MS = 1000;
/** Jobs that one script call of these verbs goes through. */
const REAP_STEP = 100;
const PRUNE_STEP = 250;

/**
 * Jobs in Redis Streams, shared by any number of processes: the rules are Lua scripts, each transition is one of them, and the hash of a
 * job is the only truth about it. KEYS.md describes what stands in Redis; `docs/storage.md` what it promises.
 *
 * open() waits for a Redis that is not there, until close(); it rejects `storage_unavailable` for one that is unfit (too old, evicting).
 */
export class RedisStorageAdapter extends StorageAdapter implements JobImporter {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #connections: RedisConnections;
  readonly #calls: ScriptCalls;
  readonly #enqueues: Lane<EnqueueCall, EnqueueReply>;
  readonly #claims: Lane<ClaimOp, ClaimReply>;
  readonly #deliveries: Lane<DeliveryOp, number>;
  readonly #desk: ClaimDesk;
  readonly #bell: Bell;
  readonly #held: HeldLeases;
  readonly #auditor: Auditor;

  constructor(options: RedisStorageOptions = {}) {
    super();
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    const names = new KeyNames(options.prefix ?? DEFAULT_PREFIX);
    const boot = randomBytes(6).toString('hex');
    this.#held = new HeldLeases(this.#clock);
    this.#connections = new RedisConnections({
      options,
      names,
      boot,
      clock: this.#clock,
      random: this.#random,
      held: this.#held,
      warn: options.warn ?? (() => undefined),
      ready: () => this.#desk.ringAll(),
      suspect: () => this.#auditor.suspect(),
      controlEnds: (at) => this.#bell.controlEnds(at),
    });
    const { commands, bell } = this.#connections;
    this.#calls = new ScriptCalls(commands, boot);
    const window = new CallWindow(() => this.#connections.durability === 'fsync');
    this.#enqueues = new Lane({ window, send: (calls) => this.#calls.enqueue(calls), weigh: weighCall });
    this.#deliveries = new Lane({ window, send: (ops) => this.#calls.deliver(ops), weigh: weighOp });
    this.#claims = new Lane({ window, send: (ops) => this.#calls.claim(ops, () => this.#auditor.suspect()), weigh: ({ limit }) => limit });
    this.#desk = new ClaimDesk({
      lane: this.#claims,
      clock: this.#clock,
      handedOut: (jobs, leaseMs, sentAtMs) => jobs.forEach((job) => this.#held.add(job, leaseMs, sentAtMs)),
      giveBack: (jobs) => jobs.forEach((job) => this.#giveBack(job)),
      watch: (queue, ends) => this.#bell.watch(queue, ends),
    });
    this.#bell = new Bell({
      link: bell,
      commands,
      names,
      clock: this.#clock,
      ring: (queue) => this.#desk.ring(queue),
      ringAll: () => this.#desk.ringAll(),
      cancelRequested: (lease) => this.#held.has(lease) && this.emit({ type: 'cancel_requested', lease }),
    });
    const calls = new AuditCalls(commands, boot);
    this.#auditor = new Auditor({ calls, link: commands, names, held: this.#held, clock: this.#clock });
  }

  get capabilities(): StorageCapabilities {
    return { kind: 'redis', durability: this.#connections.durability, shared: true, persistent: true };
  }

  health(): StorageHealth {
    const { lifecycle } = this;
    const rest = { replay: null, figures: {} };
    if (lifecycle === 'opening') return { state: lifecycle, writable: false, reason: this.#connections.waitsFor, ...rest };
    if (lifecycle !== 'open') return { state: lifecycle, writable: false, reason: `the storage is ${lifecycle}`, ...rest };
    const unwritable = this.#connections.unwritable();
    return { state: unwritable?.full ? 'full' : 'open', writable: unwritable === null, reason: unwritable?.reason ?? null, ...rest };
  }

  importJobs(jobs: readonly MovedJob[], epochFloor: number): Promise<ImportOutcome[]> {
    return this.call(() => this.#calls.importJobs(jobs, epochFloor));
  }

  /** Ends a wait for Redis too; then open() rejects. */
  override close(): Promise<void> {
    this.#connections.stopWaiting();
    return super.close();
  }

  protected override async doOpen(): Promise<void> {
    await this.#connections.open();
    this.#auditor.start();
    this.#desk.open();
    this.#bell.start();
  }

  protected override async doClose(): Promise<void> {
    this.#desk.close();
    for (const lease of this.#held.noted()) this.#tellNote(lease);
    await Promise.all([this.#enqueues.idle(), this.#claims.idle(), this.#deliveries.idle(), this.#bell.stop()]);
    await this.#auditor.stop();
    await this.#connections.close();
    this.#held.clear();
  }

  protected override async doEnqueue(jobs: readonly CheckedJob[]): Promise<EnqueueOutcome[]> {
    return decodeReply(jobs, await this.#enqueues.push(jobs));
  }

  protected override doClaim(request: ClaimRequest): Promise<JobRecord[]> {
    return this.#desk.claim(request);
  }

  protected override async doExtend(requests: readonly ExtendRequest[], leaseMs: number): Promise<ExtendOutcome[]> {
    const sentAtMs = this.#clock.monoMs();
    const replies = requests.map(({ lease, progress, log }) => {
      const note = this.#held.note(lease, progress, log);
      if (note !== null) this.#push(noteOp(lease, note.progress, note.log));
      return this.#deliveries.push(extendOp(lease, leaseMs));
    });
    const outcomes = await Promise.all(replies);
    return outcomes.map((outcome, i) => {
      const { lease } = requests[i]!;
      if (outcome === LOST) {
        this.#held.ended(lease);
        return 'lost';
      }
      this.#held.extended(lease, leaseMs, sentAtMs);
      return outcome === CANCEL_REQUESTED ? 'cancel_requested' : 'held';
    });
  }

  protected override doAck(lease: Lease, result: string | null): Promise<void> {
    return this.#settle(lease, ackOp(lease, result));
  }

  protected override doNack(lease: Lease, error: JobError, disposition: NackDisposition): Promise<void> {
    return this.#settle(lease, nackOp(lease, error, disposition));
  }

  protected override doRelease(lease: Lease, inMs: number): Promise<void> {
    return this.#settle(lease, releaseOp(lease, inMs));
  }

  protected override doRequeue(lease: Lease, reason: RequeueReason): Promise<void> {
    return this.#settle(lease, requeueOp(lease, reason, this.#random()));
  }

  protected override async doReap(limit: number): Promise<number> {
    let total = 0;
    for (let rest = limit; rest > 0;) {
      const step = Math.min(rest, REAP_STEP);
      const { reaped, ended } = await this.#calls.reap(Array.from({ length: step }, this.#random));
      total += reaped;
      rest -= reaped;
      if (ended < step) break;
    }
    return total;
  }

  protected override async doGet(id: string): Promise<JobRecord | null> {
    const [job] = await this.#patiently(this.#calls.get([id]));
    return job!;
  }

  protected override doList(query: ListQuery): Promise<JobPage> {
    return listJobs(this.#calls, query);
  }

  protected override doCounts(): Promise<JobCounts> {
    return this.#patiently(this.#calls.counts());
  }

  protected override async doCancel(id: string): Promise<JobRecord> {
    const job = found(id, await this.#calls.cancel(id));
    if (typeof job === 'object') return job;
    throw new OrchdError('already_finished', `job ${id} is already ${job}`);
  }

  protected override async doRedrive(id: string): Promise<JobRecord> {
    const job = found(id, await this.#calls.redrive(id));
    if (typeof job === 'object') return job;
    throw new OrchdError('not_dead', `job ${id} is ${job}, not dead`);
  }

  protected override async doPrune(policy: PrunePolicy): Promise<number> {
    let total = 0;
    while (total < LIMITS.prune) {
      const step = Math.min(PRUNE_STEP, LIMITS.prune - total);
      const gone = await this.#calls.prune(policy, step);
      total += gone;
      if (gone < step) break;
    }
    return total;
  }

  /** Where that fails the job is given back when Redis is found again, or reaped. */
  #giveBack(job: JobRecord): void {
    this.#settle(job, releaseOp(job, 0)).catch(() => this.#held.ended(job));
  }

  async #settle(lease: Lease, op: DeliveryOp): Promise<void> {
    this.#tellNote(lease);
    const reply = await this.#deliveries.push(op);
    this.#held.ended(lease);
    if (reply === LOST) throw new OrchdError('lease_lost', `the lease of job ${lease.id} with epoch ${lease.epoch} has ended`);
  }

  /** Before what ends the delivery, on the same lane, so that the last words are kept. */
  #tellNote(lease: Lease): void {
    const note = this.#held.takeNote(lease);
    if (note !== null) this.#push(noteOp(lease, note.progress, note.log));
  }

  /** For what nobody waits for. */
  #push(op: DeliveryOp): void {
    this.#deliveries.push(op).catch(() => undefined);
  }

  #patiently<T>(reading: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const slow = (): void => reject(new OrchdError('storage_slow', `Redis needed more than ${READ_PATIENCE_MS} ms for an answer`));
      const cancel = this.#clock.setTimer(READ_PATIENCE_MS, slow);
      reading.then(resolve, reject).finally(cancel);
    });
  }
}

function found(id: string, operated: Operated): Exclude<Operated, 'missing'> {
  if (operated === 'missing') throw new OrchdError('not_found', `there is no job ${id}`);
  return operated;
}

/** The adapter in one word, for `StorageModule.forRoot({ adapter: redisStreams({ url }) })`. Not opened. */
export function redisStreams(options: RedisStorageOptions = {}): RedisStorageAdapter {
  return new RedisStorageAdapter(options);
}
