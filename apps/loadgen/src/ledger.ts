import type { Fate } from './courier.js';

/**
 * What is known about one submit. `sent` is in flight. `unknown` may or may not be stored, and stays so until it is
 * acked, whatever a later repetition is told; `refused` is certainly not stored.
 */
export type Standing = 'unsent' | 'sent' | 'acked' | 'refused' | 'unknown';

export interface LedgerEntry {
  readonly n: number;
  /** The idempotency key: the same for every repetition, and of no other submit. */
  readonly key: string;
  standing: Standing;
  /** A repetition was needed after an attempt that may have been done. */
  doubtful: boolean;
  /** Set by the ack. */
  id: string | undefined;
  /** Index of the target that acked. */
  target: number;
  /** The service has shown this job as done, dead or cancelled; it must never show it otherwise again. */
  final: boolean;
}

/** One line of the ledger's file. */
export interface LedgerEvent {
  readonly event: 'sent' | 'acked' | 'refused' | 'unknown' | 'audited';
  readonly n: number;
  readonly key: string;
  readonly target: number;
  readonly [detail: string]: unknown;
}

export type LedgerSink = (event: LedgerEvent) => void;

export type FinalState = 'done' | 'dead' | 'cancelled';

export function isFinal(state: string): state is FinalState {
  return state === 'done' || state === 'dead' || state === 'cancelled';
}

/**
 * Every submit and its fate. Invariant: an entry is written before its request leaves and after each answer, so that at
 * any instant the ledger knows of at least everything that the service may have stored.
 */
export class Ledger {
  readonly entries: readonly LedgerEntry[];
  /** Acks that gave a submit the id of another one: one of the two jobs does not exist. */
  readonly sharedIds: LedgerEntry[] = [];
  private readonly byId = new Map<string, LedgerEntry>();

  constructor(
    jobs: number,
    runId: string,
    private readonly sink?: LedgerSink,
  ) {
    this.entries = Array.from({ length: jobs }, (_, n) => ({
      n,
      key: `loadgen-${runId}-${n}`,
      standing: 'unsent',
      doubtful: false,
      id: undefined,
      target: 0,
      final: false,
    }));
  }

  /** Submits that were acked. */
  get acked(): number {
    return this.byId.size + this.sharedIds.length;
  }

  sent(entry: LedgerEntry, target: number): void {
    entry.standing = 'sent';
    this.sink?.({ event: 'sent', n: entry.n, key: entry.key, target });
  }

  failed(entry: LedgerEntry, target: number, fate: Fate, reason: string): void {
    if (fate === 'unknown') entry.doubtful = true;
    entry.standing = entry.doubtful ? 'unknown' : 'refused';
    this.sink?.({ event: fate, n: entry.n, key: entry.key, target, reason });
  }

  ackedAs(entry: LedgerEntry, target: number, ack: { id: string; status: number; state: string }): void {
    entry.standing = 'acked';
    entry.id = ack.id;
    entry.target = target;
    entry.final = isFinal(ack.state);
    if (this.byId.has(ack.id)) this.sharedIds.push(entry);
    else this.byId.set(ack.id, entry);
    this.sink?.({ event: 'acked', n: entry.n, key: entry.key, target, ...ack });
  }

  /** What the audit found: the job's state, or `missing`. */
  audited(entry: LedgerEntry, target: number, found: { state: string; attempts?: number; requeues?: number }): void {
    if (isFinal(found.state)) entry.final = true;
    this.sink?.({ event: 'audited', n: entry.n, key: entry.key, target, id: entry.id, ...found });
  }
}
