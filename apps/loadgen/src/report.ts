import type { Refusal } from './answer.js';
import type { Audit } from './audit.js';
import type { Ledger, LedgerEntry, Standing } from './ledger.js';
import type { Options } from './options.js';

/** Why the run ended: the queue was empty, or one of the reasons to stop before. */
export type Ending = 'drained' | 'time-out' | 'interrupted' | 'refused';

export interface Outcome {
  readonly options: Options;
  readonly ledger: Ledger;
  readonly audit: Audit;
  readonly ending: Ending;
  readonly refusal: Refusal | undefined;
  readonly submitMs: number;
  readonly totalMs: number;
}

export const EXIT = { ok: 0, lost: 1, timedOut: 2, internal: 70, badFlag: 78 } as const;

/** The result: one JSON line, its keys in alphabetical order. */
export function resultLine({ options, audit, submitMs, totalMs }: Outcome): string {
  const { done, dead, cancelled, retried, requeued } = audit;
  const seconds = totalMs / 1000;
  return JSON.stringify({
    // Rounded down: 100 means all of them.
    completion_pct: Math.floor((done * 100_000) / options.jobs) / 1000,
    dead,
    done,
    jobs: options.jobs,
    label: options.label,
    requeued,
    retried,
    submit_s: round(submitMs / 1000, 3),
    throughput_jobs_s: seconds > 0 ? round((done + dead + cancelled) / seconds, 1) : 0,
    total_s: round(seconds, 3),
  });
}

/** A loss outweighs everything: also a run that was stopped exits 1 when an id is gone. */
export function exitCode({ ending, audit, refusal }: Outcome): number {
  if (audit.lost.length > 0 || audit.undone.length > 0) return EXIT.lost;
  if (refusal ?? audit.refusal) return EXIT.lost;
  if (ending !== 'drained' || audit.unchecked.length > 0) return EXIT.timedOut;
  // The queue is empty, nobody interfered, and still a job is not final.
  return audit.unfinished.length > 0 ? EXIT.lost : EXIT.ok;
}

/** What a person has to know beyond the result line; nothing when all went well. */
export function remarks(outcome: Outcome): string[] {
  const { ending, audit, ledger, options, totalMs } = outcome;
  const refusal = outcome.refusal ?? audit.refusal;
  const lines: string[] = [];
  if (refusal) {
    const name = `${refusal.status} ${refusal.code}`.trimEnd();
    lines.push(`${outcome.refusal ? 'a submit' : 'a read'} was answered with ${name}: ${refusal.detail}`);
  }
  if (ending === 'time-out') lines.push(`time-out after ${round(totalMs / 1000, 3)} s`);
  if (ending === 'interrupted') lines.push(`interrupted after ${round(totalMs / 1000, 3)} s: a partial result`);
  describe(lines, audit.lost, 'acked, then lost');
  describe(lines, audit.undone, 'shown as final, then unfinished');
  describe(lines, audit.unfinished, ending === 'drained' ? 'not final although the queue is empty' : 'not final yet');
  describe(lines, audit.unchecked, 'could not be read: no verdict on them');
  if (audit.cancelled > 0) lines.push(`${audit.cancelled} cancelled by someone else`);
  const unacked = options.jobs - ledger.acked;
  if (unacked > 0) lines.push(`${unacked} not acked: ${standings(ledger)}`);
  return lines;
}

const NAMED = 10;

function describe(lines: string[], entries: readonly LedgerEntry[], what: string): void {
  if (entries.length === 0) return;
  const names = entries.slice(0, NAMED).map((entry) => entry.id);
  const more = entries.length > NAMED ? `, and ${entries.length - NAMED} more` : '';
  lines.push(`${entries.length} ${what}: ${names.join(', ')}${more}`);
}

function standings(ledger: Ledger): string {
  const counts = new Map<Standing, number>();
  for (const { standing } of ledger.entries) {
    if (standing !== 'acked') counts.set(standing, (counts.get(standing) ?? 0) + 1);
  }
  return [...counts].map(([standing, count]) => `${count} ${standing}`).join(', ');
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
