import { describeRefusal, readObject, type Answer, type Refusal } from './answer.js';
import type { Request } from './connection.js';
import { Courier, type AttemptObserver, type Fate } from './courier.js';
import type { Ledger, LedgerEntry } from './ledger.js';
import type { Options } from './options.js';
import type { World } from './world.js';

export interface SubmitPlan {
  readonly options: Options;
  readonly ledger: Ledger;
  readonly world: World;
  /** Ends the submitting; the entries then in flight stay `unknown`. */
  readonly stop: AbortController;
}

/** A slower answer is given up and the request repeated with its key. */
const SUBMIT_TIMEOUT_MS = 15_000;

/**
 * Submits every entry of the ledger, `clients` at a time, spread evenly over the targets. Resolves when all are acked or
 * the signal has aborted; with the refusal when one was answered in a way that a repetition cannot change.
 */
export async function submitAll(plan: SubmitPlan): Promise<Refusal | undefined> {
  const { options, ledger } = plan;
  const entries = ledger.entries.values();
  const clients = Math.min(options.clients, options.jobs);
  const submitters = Array.from({ length: clients }, (_, i) => new Submitter(plan, i % options.targets.length));
  const refusals = await Promise.all(submitters.map((submitter) => submitter.drain(entries)));
  return refusals.find((refusal) => refusal !== undefined);
}

/** One client: takes the next entry, submits it until it is acked, takes the next. */
class Submitter implements AttemptObserver {
  private readonly courier: Courier;
  private readonly body: Buffer;
  private entry: LedgerEntry | undefined;

  constructor(
    private readonly plan: SubmitPlan,
    private readonly home: number,
  ) {
    const { options, world, stop } = plan;
    this.courier = new Courier(options.targets, world, stop.signal);
    this.body = Buffer.from(JSON.stringify({ work_ms: options.workMs, fail_prob: options.failProb, hang_prob: options.hangProb }));
  }

  async drain(entries: Iterator<LedgerEntry>): Promise<Refusal | undefined> {
    const { stop } = this.plan;
    try {
      for (let next = entries.next(); !next.done && !stop.signal.aborted; next = entries.next()) {
        const refusal = await this.submit(next.value);
        if (!refusal) continue;
        stop.abort('refused');
        return refusal;
      }
      return undefined;
    } finally {
      this.courier.close();
    }
  }

  sending(target: number): void {
    if (this.entry) this.plan.ledger.sent(this.entry, target);
  }

  failed(target: number, fate: Fate, reason: string): void {
    if (this.entry) this.plan.ledger.failed(this.entry, target, fate, reason);
  }

  private async submit(entry: LedgerEntry): Promise<Refusal | undefined> {
    this.entry = entry;
    const delivery = await this.courier.deliver(this.request(entry.key), this.home, this);
    if (!delivery) return undefined;
    const { answer, target } = delivery;
    const ack = readAck(answer);
    if (ack) {
      this.plan.ledger.ackedAs(entry, target, ack);
      return undefined;
    }
    const refusal = describeRefusal(answer);
    // Only a 4xx promises that nothing was stored.
    const fate = answer.status >= 400 && answer.status < 500 ? 'refused' : 'unknown';
    this.plan.ledger.failed(entry, target, fate, `${refusal.status} ${refusal.code}`.trimEnd());
    return refusal;
  }

  private request(key: string): Request {
    return {
      method: 'POST',
      path: '/jobs',
      headers: ['content-type', 'application/json', 'idempotency-key', key],
      body: this.body,
      timeoutMs: SUBMIT_TIMEOUT_MS,
    };
  }
}

/** 201 for a new job, 200 for one that an earlier attempt with this key has stored. */
function readAck(answer: Answer): { id: string; status: number; state: string } | undefined {
  if (answer.status !== 201 && answer.status !== 200) return undefined;
  const { id, state } = readObject(answer.body) ?? {};
  if (typeof id !== 'string' || id === '') return undefined;
  return { id, status: answer.status, state: typeof state === 'string' ? state : '' };
}
