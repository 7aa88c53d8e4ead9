import assert from 'node:assert/strict';
import { DEFAULT_BACKOFF, LIMITS } from '../../contract/index.js';
import { assertRising, refused } from '../expectations.js';
import type { KitChapter } from '../kit-case.js';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const FRESH = { starts: 0, attempts: 0, requeues: 0, releases: 0, cancelRequested: false };
const UNSET = { startedAt: null, finishedAt: null, progress: null, log: [], result: null, error: null };

export const enqueue: KitChapter = {
  title: 'enqueue',
  cases: [
    {
      title: 'keeps a bare job with the defaults of the contract',
      async run(bench) {
        const [outcome] = await bench.adapter.enqueue([{ queue: 'mail', type: 'send', payload: '{"to":1}' }]);
        assert.deepEqual(outcome, { id: outcome!.id, state: 'ready', queue: 'mail', type: 'send', created: true });
        const job = await bench.look(outcome.id);
        const { epoch, createdAt, runAt } = job;
        assert.deepEqual(job, {
          ...{ id: outcome.id, epoch, createdAt, runAt, queue: 'mail', type: 'send', payload: '{"to":1}', state: 'ready' },
          ...{ priority: 5, maxAttempts: 5, maxRequeues: 10, timeoutMs: 0, backoff: DEFAULT_BACKOFF, dedupeKey: null },
          ...FRESH,
          ...UNSET,
        });
        assert.equal(runAt, createdAt, 'it is due from the beginning');
      },
    },
    {
      title: 'keeps every field of a job as it was given',
      async run(bench) {
        const given = {
          ...{ id: 'mine:1', queue: 'q-1', type: 'a.b:c', payload: 'p', priority: 9, maxAttempts: 1000, maxRequeues: 0 },
          ...{ timeoutMs: LIMITS.durationMs, backoff: { baseMs: 0, capMs: LIMITS.durationMs }, dedupeKey: 'k'.repeat(255) },
        };
        await bench.adapter.enqueue([{ ...given, delayMs: LIMITS.durationMs, fingerprint: 'f' }]);
        const job = await bench.look('mine:1');
        assert.deepEqual(job, {
          ...given,
          epoch: job.epoch,
          state: 'delayed',
          createdAt: job.createdAt,
          runAt: job.runAt,
          ...FRESH,
          ...UNSET,
        });
        assert.equal(job.runAt, job.createdAt + LIMITS.durationMs);
      },
    },
    {
      title: 'makes ids that ascend in the order of enqueue (UUIDv7)',
      async run(bench) {
        const ids = [await bench.add(), ...(await bench.addAll(300)), await bench.add(), ...(await bench.addAll(10))];
        for (const id of ids) assert.match(id, UUID_V7);
        assertRising(ids, 'ids');
      },
    },
    {
      title: 'answers in the order of the batch',
      async run(bench) {
        const jobs = ['z', 'a', 'm', '0'].map((id, i) =>
          bench.newJob({ id, queue: `q${i}`, type: `t${i}`, ...(i === 2 && { delayMs: 50 }) }),
        );
        const outcomes = await bench.adapter.enqueue(jobs);
        const states = ['ready', 'ready', 'delayed', 'ready'];
        const expected = jobs.map(({ id, queue, type }, i) => ({ id, queue, type, state: states[i], created: true }));
        assert.deepEqual(outcomes, expected);
      },
    },
    {
      title: 'takes a batch of the largest size, and every job of it is there',
      async run(bench) {
        const ids = await bench.addAll(LIMITS.batch, (i) => ({ payload: String(i) }));
        assert.equal(new Set(ids).size, LIMITS.batch);
        assert.equal((await bench.adapter.counts()).ready, LIMITS.batch);
        const listed = await bench.all();
        assert.deepEqual(
          listed.map(({ id, payload }) => [id, payload]),
          ids.map((id, i) => [id, String(i)]),
        );
      },
    },
    {
      title: 'takes nothing of a batch that has one conflict, wherever it stands in it (R12)',
      async run(bench) {
        await bench.add({ id: 'taken', fingerprint: 'one', delayMs: 1_000_000 });
        const other = bench.newJob({ id: 'taken', fingerprint: 'two' });
        for (const at of [0, 1, 3]) {
          const batch = ['a', 'b', 'c'].map((id) => bench.newJob({ id, dedupeKey: `key of ${id}` }));
          batch.splice(at, 0, other);
          await refused(bench.adapter.enqueue(batch), 'conflict');
        }
        assert.deepEqual(
          (await bench.all()).map(({ id }) => id),
          ['taken'],
        );
        assert.deepEqual(await bench.claim({ limit: 10 }), [], 'nothing of it can be claimed');
        assert.equal(await bench.adapter.get('a'), null);
      },
    },
    {
      title: 'leaves ids and keys of a refused batch free',
      async run(bench) {
        await bench.add({ id: 'taken' });
        const good = bench.newJob({ id: 'good', dedupeKey: 'good key', fingerprint: 'f' });
        await refused(bench.adapter.enqueue([good, bench.newJob({ id: 'taken' })]), 'conflict');
        const [outcome] = await bench.adapter.enqueue([{ ...good, fingerprint: 'g' }]);
        assert.equal(outcome?.created, true);
        await refused(bench.adapter.enqueue([bench.newJob({ dedupeKey: 'good key', fingerprint: 'f' })]), 'conflict');
      },
    },
    {
      title: 'shows and hands out a job as soon as its enqueue is answered',
      async run(bench) {
        const calls = Array.from({ length: 20 }, async (_, i) => {
          const id = await bench.add({ queue: `q${i}` });
          assert.equal((await bench.look(id)).state, 'ready');
          assert.equal((await bench.take(`q${i}`)).id, id);
        });
        await Promise.all(calls);
      },
    },
  ],
};
