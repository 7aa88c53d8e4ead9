import assert from 'node:assert/strict';
import { LIMITS, type NewJob, type StorageAdapter } from '../../contract/index.js';
import { refusedField } from '../expectations.js';
import type { KitCase, KitChapter } from '../kit-case.js';
import type { Workbench } from '../workbench.js';

/** A value of the wrong type, as plain JavaScript may pass it. */
function wrong<T>(value: unknown): T {
  return value as T;
}

const LONE = 'half a pair \ud800';
const NOT_DURATIONS = [-1, 0.5, NaN, Infinity, LIMITS.durationMs + 1, wrong<number>('3'), wrong<number>(null)];
const NOT_INTEGERS = [-1, 1.5, NaN, Infinity, wrong<number>('3')];
const NOT_IDS = ['', '__proto__', '-a', 'a b', 'a/b', 'ä', 'x'.repeat(129), wrong<string>(undefined), wrong<string>(7)];
const ERROR = { code: 'failed', message: 'no' } as const;

/** A field and values that nobody may put there. */
type BadFields<T> = readonly (readonly [field: string, bad: readonly T[]])[];

function some<T>(field: string, bad: readonly unknown[], as: (value: never) => T): readonly [string, readonly T[]] {
  return [field, bad.map((value) => as(value as never))];
}

const BAD_JOBS: BadFields<Partial<NewJob>> = [
  some(
    'id',
    NOT_IDS.filter((id) => id !== undefined),
    (id) => ({ id }),
  ),
  some('queue', ['', 'a b', 'a.b', 'x'.repeat(65), '__proto__', null], (queue) => ({ queue })),
  some('type', ['', '1st', 'a b', 'x'.repeat(129), '__proto__', null], (type) => ({ type })),
  some('payload', [LONE, null, {}, 5], (payload) => ({ payload })),
  some('priority', [...NOT_INTEGERS, 10], (priority) => ({ priority })),
  some('delayMs', NOT_DURATIONS, (delayMs) => ({ delayMs })),
  some('runAt', NOT_INTEGERS, (runAt) => ({ runAt })),
  some('runAt', [0], (delayMs) => ({ delayMs, runAt: 1 })),
  some('maxAttempts', [...NOT_INTEGERS, 0, LIMITS.attempts + 1], (maxAttempts) => ({ maxAttempts })),
  some('maxRequeues', [...NOT_INTEGERS, LIMITS.attempts + 1], (maxRequeues) => ({ maxRequeues })),
  some(
    'timeoutMs',
    NOT_DURATIONS.filter((ms) => ms !== null),
    (timeoutMs) => ({ timeoutMs }),
  ),
  some('backoff.baseMs', NOT_DURATIONS, (baseMs) => ({ backoff: { baseMs, capMs: 1 } })),
  some('backoff.capMs', NOT_DURATIONS, (capMs) => ({ backoff: { baseMs: 1, capMs } })),
  some('dedupeKey', ['', 'x'.repeat(256), LONE, 5], (dedupeKey) => ({ dedupeKey })),
  some('fingerprint', [LONE, 5], (fingerprint) => ({ fingerprint })),
];

type Call = (adapter: StorageAdapter, bench: Workbench) => Promise<unknown>;

/** Calls that are wrong in one field; all others get what they need. */
const BAD_CALLS: BadFields<Call> = [
  some('jobs', [[], null, 'x'], (jobs) => (adapter) => adapter.enqueue(jobs)),
  some('jobs', [LIMITS.batch + 1], (size) => (adapter, bench) => adapter.enqueue(new Array(size).fill(bench.newJob()))),
  some('queue', ['', 'a b', null], (queue) => (_, bench) => bench.claim({ queue })),
  some('limit', [...NOT_INTEGERS, 0, LIMITS.claim + 1], (limit) => (_, bench) => bench.claim({ limit })),
  some('owner', [null, 5], (owner) => (_, bench) => bench.claim({ owner })),
  some('leaseMs', [...NOT_DURATIONS, 0], (leaseMs) => (_, bench) => bench.claim({ leaseMs })),
  some('waitMs', NOT_DURATIONS, (waitMs) => (_, bench) => bench.claim({ waitMs })),
  some('leaseMs', [...NOT_DURATIONS, 0], (leaseMs) => (adapter) => adapter.extend([], leaseMs)),
  some('lease.id', NOT_IDS, (id) => (adapter) => adapter.extend([{ lease: { id, epoch: 1 } }], 1000)),
  some('lease.epoch', NOT_INTEGERS, (epoch) => (adapter) => adapter.extend([{ lease: { id: 'a', epoch } }], 1000)),
  some(
    'progress',
    [-1, 101, NaN, '3'],
    (percent) => (adapter) => adapter.extend([{ lease: { id: 'a', epoch: 1 }, progress: { percent, note: null } }], 1000),
  ),
  some(
    'progress',
    [LONE, 5],
    (note) => (adapter) => adapter.extend([{ lease: { id: 'a', epoch: 1 }, progress: { percent: 1, note } }], 1000),
  ),
  some('log', [LONE, 5], (line) => (adapter) => adapter.extend([{ lease: { id: 'a', epoch: 1 }, log: [line] }], 1000)),
  some('lease.id', NOT_IDS, (id) => (adapter) => adapter.ack({ id, epoch: 1 })),
  some('lease.epoch', NOT_INTEGERS, (epoch) => (adapter) => adapter.ack({ id: 'a', epoch })),
  some('result', [LONE, 5, {}], (result) => (adapter) => adapter.ack({ id: 'a', epoch: 1 }, result)),
  some('lease.id', NOT_IDS, (id) => (adapter) => adapter.nack({ id, epoch: 1 }, ERROR, { dead: true })),
  some('lease.epoch', NOT_INTEGERS, (epoch) => (adapter) => adapter.nack({ id: 'a', epoch }, ERROR, { dead: true })),
  some(
    'error.code',
    ['', 'broken', 5, null],
    (code) => (adapter) => adapter.nack({ id: 'a', epoch: 1 }, { code, message: 'no' }, { dead: true }),
  ),
  some('retryInMs', NOT_DURATIONS, (retryInMs) => (adapter) => adapter.nack({ id: 'a', epoch: 1 }, ERROR, { retryInMs })),
  some('disposition', [{}, { dead: false }], (disposition) => (adapter) => adapter.nack({ id: 'a', epoch: 1 }, ERROR, disposition)),
  some('lease.id', NOT_IDS, (id) => (adapter) => adapter.release({ id, epoch: 1 })),
  some(
    'inMs',
    NOT_DURATIONS.filter((ms) => ms !== null),
    (inMs) => (adapter) => adapter.release({ id: 'a', epoch: 1 }, { inMs }),
  ),
  some('lease.id', NOT_IDS, (id) => (adapter) => adapter.requeue({ id, epoch: 1 }, 'hung')),
  some('reason', ['', 'bored', 'crashed', null], (reason) => (adapter) => adapter.requeue({ id: 'a', epoch: 1 }, reason)),
  some('limit', [...NOT_INTEGERS, 0, LIMITS.claim + 1], (limit) => (adapter) => adapter.reap(limit)),
  some('id', NOT_IDS, (id) => (adapter) => adapter.get(id)),
  some('id', NOT_IDS, (id) => (adapter) => adapter.cancel(id)),
  some('id', NOT_IDS, (id) => (adapter) => adapter.redrive(id)),
  some('state', ['', 'running', 'toString'], (state) => (adapter) => adapter.list({ state })),
  some('queue', ['', 'a b'], (queue) => (adapter) => adapter.list({ queue })),
  some('type', ['', '1st'], (type) => (adapter) => adapter.list({ type })),
  some('limit', [...NOT_INTEGERS, 0, LIMITS.list + 1], (limit) => (adapter) => adapter.list({ limit })),
  some('cursor', ['', 'a b'], (cursor) => (adapter) => adapter.list({ cursor })),
  some('keepFinishedMs', NOT_DURATIONS, (keepFinishedMs) => (adapter) => adapter.prune({ keepFinishedMs, keepFinished: 0, keepDeadMs: 0 })),
  some('keepFinished', NOT_INTEGERS, (keepFinished) => (adapter) => adapter.prune({ keepFinishedMs: 0, keepFinished, keepDeadMs: 0 })),
  some('keepDeadMs', NOT_DURATIONS, (keepDeadMs) => (adapter) => adapter.prune({ keepFinishedMs: 0, keepFinished: 0, keepDeadMs })),
];

async function refuseAll(bench: Workbench, field: string, calls: readonly Call[]): Promise<void> {
  for (const [index, call] of calls.entries()) await refusedField(call(bench.adapter, bench), field, `call ${index} with a bad ${field}`);
}

const jobCases: KitCase[] = BAD_JOBS.map(([field, bad]) => ({
  title: `refuses a job with a bad ${field}, and the whole batch that it stands in`,
  async run(bench) {
    for (const job of bad) {
      const batch = [bench.newJob({ id: 'good' }), bench.newJob(job)];
      await refusedField(bench.adapter.enqueue(batch), field, `a job with ${JSON.stringify(job)}`);
    }
    assert.deepEqual(await bench.all(), [], 'nothing was kept');
  },
}));

export const badArguments: KitChapter = {
  title: 'bad arguments',
  cases: [
    ...jobCases,
    {
      title: 'refuses a bad argument of every verb by the name of its field, and changes nothing',
      async run(bench) {
        const id = await bench.add();
        await bench.take();
        const before = await bench.look(id);
        for (const [field, calls] of BAD_CALLS) await refuseAll(bench, field, calls);
        assert.deepEqual(await bench.all(), [before]);
      },
    },
    {
      title: 'refuses a bad argument with the lease in hand, and the lease stays good',
      async run(bench) {
        const id = await bench.add();
        const lease = await bench.take();
        await refusedField(bench.adapter.ack(lease, LONE), 'result', 'ack');
        await refusedField(bench.adapter.nack(lease, ERROR, { retryInMs: -1 }), 'retryInMs', 'nack');
        await refusedField(bench.adapter.release(lease, { inMs: -1 }), 'inMs', 'release');
        await refusedField(bench.adapter.requeue(lease, wrong('bored')), 'reason', 'requeue');
        assert.deepEqual(await bench.look(id), lease);
        await bench.adapter.ack(lease);
      },
    },
    {
      title: 'mends an error message instead of refusing it: cut, and well-formed',
      async run(bench) {
        const id = await bench.add({ maxAttempts: 2 });
        await bench.adapter.nack(await bench.take(), { code: 'failed', message: 'm'.repeat(LIMITS.errorMessage + 1) }, { retryInMs: 0 });
        assert.equal((await bench.look(id)).error?.message, 'm'.repeat(LIMITS.errorMessage));
        await bench.adapter.nack(await bench.take(), { code: 'failed', message: LONE }, { dead: true });
        assert.equal((await bench.look(id)).error?.message, 'half a pair \ufffd');
      },
    },
    {
      title: 'takes names of Object.prototype for what they are: names (E03)',
      async run(bench) {
        const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf'];
        await bench.adapter.enqueue(
          names.map((name) => bench.newJob({ id: name, queue: name, type: name, dedupeKey: '__proto__' + name })),
        );
        for (const name of names) {
          const [job] = await bench.claim({ queue: name });
          assert.equal(job?.id, name);
          await bench.adapter.ack(job);
        }
        assert.equal(await bench.adapter.get('isPrototypeOf'), null);
        assert.equal((await bench.adapter.list({ queue: 'toString', type: 'toString' })).jobs.length, 1);
      },
    },
    {
      title: 'gives payloads and results back as they came, whatever is in them',
      async run(bench) {
        const texts = [
          '',
          ' ',
          '{"__proto__":{"x":1}}',
          'null',
          '9007199254740993',
          '[]',
          'a\u0000b\r\n\t',
          Array.from({ length: 32 }, (_, code) => `${String.fromCharCode(code)}x`).join(''),
          'Grüße \u{1f600} \u2028',
          'x'.repeat(1 << 20),
        ];
        for (const text of texts) {
          const id = await bench.add({ payload: text });
          const lease = await bench.take();
          assert.equal(lease.payload, text);
          await bench.adapter.ack(lease, text);
          const { payload, result } = await bench.look(id);
          assert.deepEqual([payload, result], [text, text]);
        }
      },
    },
  ],
};
