import { describeRefusal, readObject, type Refusal } from './answer.js';
import type { Request } from './connection.js';
import { Courier, type AttemptObserver, type Delivery } from './courier.js';
import { isFinal, type FinalState, type Ledger, type LedgerEntry } from './ledger.js';
import type { Options } from './options.js';
import { sharedController, type World } from './world.js';

export interface Audit {
  readonly done: number;
  readonly dead: number;
  readonly cancelled: number;
  /** Acked, and the service does not know the id, or gave it to two submits. */
  readonly lost: readonly LedgerEntry[];
  /** Shown as final before, and unfinished now. */
  readonly undone: readonly LedgerEntry[];
  /** Not final, and never shown as final. */
  readonly unfinished: readonly LedgerEntry[];
  /** No answer could be had. */
  readonly unchecked: readonly LedgerEntry[];
  /** Failures that led to another attempt. */
  readonly retried: number;
  readonly requeued: number;
  /** The first read that was answered with neither the job nor 404. */
  readonly refusal: Refusal | undefined;
  /** The service was not there for some time during the audit. */
  readonly broken: boolean;
}

export interface AuditPlan {
  readonly options: Options;
  readonly ledger: Ledger;
  readonly world: World;
  /** Until then the audit waits for a service that does not answer. */
  readonly deadlineAt: number;
  /** Aborted: the user wants the result now. */
  readonly interrupt: AbortSignal;
}

const READ_TIMEOUT_MS = 10_000;
/** Past the deadline the audit goes on as long as answers come, and ends after this much silence. */
const PATIENCE_MS = 5_000;
/** After an interrupt it ends in any case. */
const INTERRUPT_PATIENCE_MS = 2_000;
const PATIENCE_CHECK_MS = 100;

/** Reads every acked job by its id, `clients` at a time, from the target that acked it first of all. */
export async function auditAll(plan: AuditPlan): Promise<Audit> {
  return new Auditor(plan).run();
}

class Auditor implements AttemptObserver {
  private readonly lost: LedgerEntry[] = [];
  private readonly undone: LedgerEntry[] = [];
  private readonly unfinished: LedgerEntry[] = [];
  private readonly unchecked: LedgerEntry[] = [];
  private readonly finals: Record<FinalState, number> = { done: 0, dead: 0, cancelled: 0 };
  private retried = 0;
  private requeued = 0;
  private refusal: Refusal | undefined;
  private broken = false;
  private answeredAt: number;
  private interruptedAt: number | undefined;
  private readonly giveUp = sharedController();

  constructor(private readonly plan: AuditPlan) {
    this.answeredAt = plan.world.now();
  }

  async run(): Promise<Audit> {
    const { options, ledger } = this.plan;
    const acked = ledger.entries.filter((entry) => entry.standing === 'acked');
    const queue = acked.values();
    const clients = Math.min(options.clients, acked.length);
    const patience = setInterval(() => this.checkPatience(), PATIENCE_CHECK_MS);
    try {
      await Promise.all(Array.from({ length: clients }, () => this.client(queue)));
    } finally {
      clearInterval(patience);
    }
    return {
      ...this.finals,
      lost: this.lost,
      undone: this.undone,
      unfinished: this.unfinished,
      unchecked: this.unchecked,
      retried: this.retried,
      requeued: this.requeued,
      refusal: this.refusal,
      broken: this.broken,
    };
  }

  sending(): void {
    // A read changes nothing at the service: nothing to note before it.
  }

  failed(): void {
    this.broken = true;
  }

  private async client(queue: Iterator<LedgerEntry>): Promise<void> {
    const courier = new Courier(this.plan.options.targets, this.plan.world, this.giveUp.signal);
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const entry = next.value;
      const delivery = await courier.deliver(readRequest(entry), entry.target, this);
      if (delivery) this.judge(entry, delivery);
      else this.unchecked.push(entry);
    }
    courier.close();
  }

  private judge(entry: LedgerEntry, { answer, target }: Delivery): void {
    const { ledger, world } = this.plan;
    this.answeredAt = world.now();
    const job = answer.status === 200 ? readObject(answer.body) : undefined;
    if (answer.status === 404 || (job && job.id !== entry.id) || ledger.sharedIds.includes(entry)) {
      ledger.audited(entry, target, { state: 'missing' });
      this.lost.push(entry);
      return;
    }
    if (!job) {
      this.refusal ??= describeRefusal(answer);
      this.unchecked.push(entry);
      return;
    }
    const state = String(job.state);
    const attempts = count(job.attempts);
    const requeues = count(job.requeues);
    const wasFinal = entry.final;
    ledger.audited(entry, target, { state, attempts, requeues });
    if (isFinal(state)) this.finals[state]++;
    else (wasFinal ? this.undone : this.unfinished).push(entry);
    this.requeued += requeues;
    this.retried += state === 'dead' && !diedOfRequeues(job) ? Math.max(0, attempts - 1) : attempts;
  }

  private checkPatience(): void {
    const { world, deadlineAt, interrupt } = this.plan;
    const now = world.now();
    if (interrupt.aborted) this.interruptedAt ??= now;
    const patientUntil = Math.max(deadlineAt, this.answeredAt) + PATIENCE_MS;
    const limit = this.interruptedAt === undefined ? patientUntil : this.interruptedAt + INTERRUPT_PATIENCE_MS;
    if (now >= limit) this.giveUp.abort();
  }
}

function readRequest(entry: LedgerEntry): Request {
  const path = `/jobs/${encodeURIComponent(entry.id ?? '')}`;
  return { method: 'GET', path, headers: null, body: null, timeoutMs: READ_TIMEOUT_MS };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/**
 * A job dies either of its last failure, which then led to no other attempt, or of one requeue more than it is allowed;
 * then each of its failures had led to another attempt.
 */
function diedOfRequeues(job: Record<string, unknown>): boolean {
  return typeof job.max_requeues === 'number' && count(job.requeues) > job.max_requeues;
}
