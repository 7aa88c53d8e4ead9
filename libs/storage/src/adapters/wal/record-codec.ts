import {
  DEFAULT_BACKOFF,
  OrchdError,
  type BackoffBounds,
  type JobErrorCode,
  type JobProgress,
  type JobState,
  type Lease,
} from '../../contract/index.js';
import { JobEntry, type JobKeys, type SettleMark, type SettleVerb } from '../../job-table/job-entry.js';
import type { SettleEvent, TableEvent } from '../../job-table/table-event.js';

/*
 * One event is one line of JSON, an array that begins with a letter for its kind; FORMAT.md has the table of all of them. Lines are put
 * together by hand where only ids, queues, types and numbers stand in them, whose alphabets need no escaping (R13); this is the hot path.
 */

export function encodeEvent(event: TableEvent): string {
  switch (event.kind) {
    case 'put':
      return encodeJob(event.entry);
    case 'claim':
      return `["c",${event.at},${encodeLeases(event.leases)}]\n`;
    case 'settle':
      return encodeSettle(event);
    case 'promote':
      return `["d",${event.turn},${encodeLeases(event.leases)}]\n`;
    case 'cancel':
      return `["x","${event.id}",${event.epoch},${event.at},${round(event.mono)}]\n`;
    case 'redrive':
      return `["r","${event.id}",${event.epoch},${event.at},${event.turn}]\n`;
    case 'note':
      return `["n","${event.id}",${event.epoch},${JSON.stringify(event.progress)},${JSON.stringify(event.log)}]\n`;
    case 'prune':
      return `["p",["${event.ids.join('","')}"]]\n`;
    case 'clock':
      return `["t",${round(event.mono)},${event.turn},${event.floor}]\n`;
  }
}

function encodeLeases(leases: readonly Lease[]): string {
  return `[${leases.map((lease) => `"${lease.id}",${lease.epoch}`).join(',')}]`;
}

/** A whole job. The second array is there only for one that has been delivered, or copied while it waits. */
export function encodeJob(entry: JobEntry): string {
  const { keys, backoff, due } = entry;
  const delay = due === null ? '0,0' : `${due.delayMs},${due.instant ? 1 : 0}`;
  const bounds = backoff === DEFAULT_BACKOFF ? '0,0' : `${backoff.baseMs},${backoff.capMs}`;
  const custom = backoff === DEFAULT_BACKOFF ? 0 : 1;
  const key = keys === null ? '' : `,${JSON.stringify([keys.dedupeKey, keys.fingerprint])}`;
  const past = entry.readySeq === 0 && entry.detail === null ? '' : `${keys === null ? ',0' : ''},${encodePast(entry)}`;
  return (
    `["j","${entry.id}","${entry.queue}","${entry.type}",${JSON.stringify(entry.payload)},${entry.priority},"${entry.state}",` +
    `${entry.createdAt},${entry.runAt},${delay},${entry.maxAttempts},${entry.maxRequeues},${entry.timeoutMs},${custom},${bounds}${key}${past}]\n`
  );
}

function encodePast(entry: JobEntry): string {
  const { epoch, starts, attempts, requeues, releases, readySeq, detail } = entry;
  const counters = [epoch, starts, attempts, requeues, releases, readySeq];
  if (detail === null) return JSON.stringify(counters);
  const { cancelRequested, startedAt, finishedAt, finishedMono, progress, log, result, error, mark } = detail;
  return JSON.stringify([...counters, cancelRequested, startedAt, finishedAt, round(finishedMono), progress, log, result, error, mark]);
}

function encodeSettle(event: SettleEvent): string {
  const { verb, id, epoch, nextEpoch, to, at, delayMs, result, error, digest, turn } = event;
  const mono = round(event.mono);
  if (verb === 'ack' && to === 'done') {
    return `["a","${id}",${epoch},${at},${mono},${digest}${result === null ? '' : `,${JSON.stringify(result)}`}]\n`;
  }
  const reason = error === null ? '' : `,"${error.code}",${JSON.stringify(error.message)}`;
  return `["s","${verb}","${id}",${epoch},${nextEpoch},"${to}",${at},${mono},${delayMs},${digest},${turn}${reason}]\n`;
}

/** Decodes lines of one boot or many; throws `storage_damaged` for a line that no version up to this one has written. */
export class RecordDecoder {
  /** Queue and type names repeat; one string each is kept, not one per job. */
  readonly #names = new Map<string, string>();
  readonly #backoffs = new Map<string, BackoffBounds>();

  decode(line: string): TableEvent {
    const fields = parse(line);
    switch (fields[0]) {
      case 'j':
        return { kind: 'put', entry: this.#job(fields) };
      case 'c':
        return { kind: 'claim', at: fields[1] as number, leases: leases(fields[2] as (string | number)[]) };
      case 'a':
        return ackEvent(fields);
      case 's':
        return settleEvent(fields);
      case 'd':
        return { kind: 'promote', turn: fields[1] as number, leases: leases(fields[2] as (string | number)[]) };
      case 'x':
        return { kind: 'cancel', id: fields[1] as string, epoch: fields[2] as number, at: fields[3] as number, mono: fields[4] as number };
      case 'r':
        return { kind: 'redrive', id: fields[1] as string, epoch: fields[2] as number, at: fields[3] as number, turn: fields[4] as number };
      case 'n':
        return {
          kind: 'note',
          id: fields[1] as string,
          epoch: fields[2] as number,
          progress: fields[3] as JobProgress | null,
          log: fields[4] as string[],
        };
      case 'p':
        return { kind: 'prune', ids: fields[1] as string[] };
      case 't':
        // Logs from before the floor was carried have none here.
        return { kind: 'clock', mono: fields[1] as number, turn: fields[2] as number, floor: (fields[3] as number | undefined) ?? 0 };
      default:
        throw unreadable(`its kind, ${String(fields[0]).slice(0, 8)}, is unknown: a newer orchd may have written it`);
    }
  }

  #job(fields: unknown[]): JobEntry {
    const [, id, queue, type, payload, priority, state, createdAt, runAt, delayMs, instant, maxAttempts, maxRequeues, timeoutMs] =
      fields as [string, string, string, string, string, number, JobState, number, number, number, number, number, number, number];
    const [custom, baseMs, capMs, keys, past] = fields.slice(14) as [
      number,
      number,
      number,
      [string | null, string | null] | 0 | undefined,
      Past | undefined,
    ];
    const entry = new JobEntry(
      id,
      this.#name(queue),
      this.#name(type),
      payload,
      priority,
      maxAttempts,
      maxRequeues,
      timeoutMs,
      custom === 0 ? DEFAULT_BACKOFF : this.#backoff(baseMs, capMs),
      createdAt,
      runAt,
      keys ? ({ dedupeKey: keys[0], fingerprint: keys[1] } satisfies JobKeys) : null,
    );
    entry.state = state;
    if (state === 'delayed') entry.due = { entry, key: 0, seq: 0, delayMs, instant: instant === 1, index: 0 };
    if (past !== undefined) restorePast(entry, past);
    return entry;
  }

  #name(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    this.#names.set(name, name);
    return name;
  }

  #backoff(baseMs: number, capMs: number): BackoffBounds {
    const key = `${baseMs},${capMs}`;
    let known = this.#backoffs.get(key);
    if (known === undefined) this.#backoffs.set(key, (known = { baseMs, capMs }));
    return known;
  }
}

type Counters = [epoch: number, starts: number, attempts: number, requeues: number, releases: number, readySeq: number];
type Past = [...Counters, ...unknown[]];

function restorePast(entry: JobEntry, past: Past): void {
  [entry.epoch, entry.starts, entry.attempts, entry.requeues, entry.releases, entry.readySeq] = past;
  if (past.length === 6) return;
  const [cancelRequested, startedAt, finishedAt, finishedMono, progress, log, result, error, mark] = past.slice(6);
  Object.assign(entry.ensureDetail(), {
    cancelRequested,
    startedAt,
    finishedAt,
    finishedMono,
    progress,
    log,
    result,
    error,
    mark: mark as SettleMark,
  });
}

function ackEvent(fields: unknown[]): SettleEvent {
  const [, id, epoch, at, mono, digest, result = null] = fields as [string, string, number, number, number, number, string | undefined];
  return {
    kind: 'settle',
    verb: 'ack',
    id,
    epoch,
    nextEpoch: epoch,
    to: 'done',
    at,
    mono,
    delayMs: 0,
    result,
    error: null,
    digest,
    turn: 0,
  };
}

function settleEvent(fields: unknown[]): SettleEvent {
  const [, verb, id, epoch, nextEpoch, to, at, mono, delayMs, digest, turn, code, message = ''] = fields as [
    string,
    SettleVerb,
    string,
    number,
    number,
    JobState,
    number,
    number,
    number,
    number | null,
    number,
    JobErrorCode | undefined,
    string | undefined,
  ];
  const error = code === undefined ? null : { code, message };
  return { kind: 'settle', verb, id, epoch, nextEpoch, to, at, mono, delayMs, result: null, error, digest, turn };
}

function leases(pairs: (string | number)[]): Lease[] {
  const list: Lease[] = [];
  for (let i = 0; i < pairs.length; i += 2) list.push({ id: pairs[i] as string, epoch: pairs[i + 1] as number });
  return list;
}

function parse(line: string): unknown[] {
  try {
    const fields: unknown = JSON.parse(line);
    if (Array.isArray(fields)) return fields;
  } catch (error) {
    throw unreadable('it is not JSON', error);
  }
  throw unreadable('it is not an array');
}

/** Says nothing of what the record holds: payloads and keys stay out of what people paste elsewhere. */
function unreadable(problem: string, cause?: unknown): OrchdError {
  return new OrchdError('storage_damaged', `a record cannot be read: ${problem}`, { cause });
}

/** The storage clock in a log has whole milliseconds. */
function round(mono: number): number {
  return Math.round(mono);
}
