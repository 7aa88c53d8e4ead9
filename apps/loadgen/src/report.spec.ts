import type { Audit } from './audit.js';
import { Ledger } from './ledger.js';
import { parseOptions } from './options.js';
import { exitCode, resultLine, type Outcome } from './report.js';

function outcome(jobs: number, audit: Partial<Audit>, rest: Partial<Outcome> = {}): Outcome {
  const parsed = parseOptions(['--url', 'http://127.0.0.1:1', '--jobs', String(jobs)]);
  if (parsed.kind !== 'run') throw new Error('bad flags');
  const counts = { done: 0, dead: 0, cancelled: 0, retried: 0, requeued: 0 };
  const findings = { lost: [], undone: [], unfinished: [], unchecked: [], refusal: undefined, broken: false };
  return {
    options: parsed.options,
    ledger: new Ledger(jobs, 'run'),
    audit: { ...counts, ...findings, ...audit },
    ending: 'drained',
    refusal: undefined,
    submitMs: 250.4,
    totalMs: 2000.6,
    ...rest,
  };
}

function result(of: Outcome): Record<string, unknown> {
  return JSON.parse(resultLine(of)) as Record<string, unknown>;
}

describe('resultLine', () => {
  it('says 100 percent only when every job is done', () => {
    expect(result(outcome(1_000_000, { done: 1_000_000 })).completion_pct).toBe(100);
    expect(result(outcome(1_000_000, { done: 999_999 })).completion_pct).toBe(99.999);
    expect(result(outcome(3, { done: 2, dead: 1 })).completion_pct).toBe(66.666);
  });

  it('counts every job that reached its end into the throughput, over the seconds up to the empty queue', () => {
    const line = result(outcome(1000, { done: 900, dead: 100 }));

    expect(line).toMatchObject({ submit_s: 0.25, total_s: 2.001, throughput_jobs_s: 499.9 });
  });
});

describe('exitCode', () => {
  const [entry] = new Ledger(1, 'run').entries;
  const some = entry ? [entry] : [];

  it.each([
    ['every id is final', {}, {}, 0],
    ['an id is lost', { lost: some }, {}, 1],
    ['an id is undone', { undone: some }, {}, 1],
    ['an id is lost and the time is out', { lost: some }, { ending: 'time-out' }, 1],
    ['an id is lost in an interrupted run', { lost: some }, { ending: 'interrupted' }, 1],
    ['an id is not final although the queue is empty', { unfinished: some }, {}, 1],
    ['an id is not final at the time-out', { unfinished: some }, { ending: 'time-out' }, 2],
    ['an id could not be read', { unchecked: some }, {}, 2],
    ['the run was interrupted', {}, { ending: 'interrupted' }, 2],
    ['a submit was refused', {}, { ending: 'refused', refusal: { status: 400, code: 'x', detail: '' } }, 1],
  ] as const)('when %s', (_case, audit, rest, code) => {
    expect(exitCode(outcome(1, audit, rest))).toBe(code);
  });
});
