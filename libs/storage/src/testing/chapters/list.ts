import assert from 'node:assert/strict';
import { JOB_STATES, LIMITS } from '../../contract/index.js';
import { assertRising } from '../expectations.js';
import type { KitChapter } from '../kit-case.js';
import type { Workbench } from '../workbench.js';

const NO = { code: 'failed', message: 'no' } as const;

/** Twelve jobs, two in each state, in two queues and of two types. */
async function oneOfEach(bench: Workbench): Promise<void> {
  for (const queue of ['mail', 'video']) {
    const type = queue === 'mail' ? 'send' : 'cut';
    await bench.addAll(4, () => ({ queue, type }));
    const [done, dead, cancelled] = await bench.claim({ queue, limit: 4 });
    await bench.adapter.ack(done!);
    await bench.adapter.nack(dead!, NO, { dead: true });
    await bench.adapter.cancel(cancelled!.id);
    await bench.adapter.release(cancelled!);
    await bench.add({ queue, type: 'send' });
    await bench.add({ queue, type, delayMs: 100_000 });
  }
}

export const list: KitChapter = {
  title: 'get, list and counts',
  cases: [
    {
      title: 'gets nothing for an id that nobody has',
      async run(bench) {
        await bench.add({ id: 'abc' });
        for (const id of ['ab', 'abcd', 'ABC', 'nobody']) assert.equal(await bench.adapter.get(id), null);
      },
    },
    {
      title: 'gives snapshots: what was given does not change when the job does',
      async run(bench) {
        const id = await bench.add({ backoff: { baseMs: 7, capMs: 9 } });
        const before = await bench.look(id);
        const copy = JSON.stringify(before);
        const lease = await bench.take();
        await bench.adapter.extend([{ lease, progress: { percent: 1, note: null }, log: ['line'] }], 1000);
        await bench.adapter.nack(lease, NO, { dead: true });
        assert.equal(JSON.stringify(before), copy);
        assert.deepEqual([lease.state, lease.log], ['active', []]);
      },
    },
    {
      title: 'lists nothing where there is nothing, in one page',
      async run(bench) {
        assert.deepEqual(await bench.adapter.list(), { jobs: [], nextCursor: null });
        assert.deepEqual(await bench.adapter.counts(), { delayed: 0, ready: 0, active: 0, done: 0, dead: 0, cancelled: 0 });
      },
    },
    {
      title: 'lists by id, ascending, whatever the order of enqueue, each job as get shows it',
      async run(bench) {
        const ids = ['b', 'a.z', 'B', 'a-z', '9', 'a:z', 'b0', 'a', 'Z', '10'];
        await bench.addAll(ids.length, (i) => ({ id: ids[i]!, payload: `of ${ids[i]}` }));
        await bench.claim({ limit: 3 });
        const jobs = await bench.all();
        assert.deepEqual(
          jobs.map(({ id }) => id),
          [...ids].sort(),
        );
        for (const job of jobs) assert.deepEqual(job, await bench.look(job.id));
      },
    },
    {
      title: 'gives pages of at most limit, 100 where nothing is said, and every job once',
      async run(bench) {
        const ids = await bench.addAll(250);
        const first = await bench.adapter.list();
        assert.equal(first.jobs.length, 100);
        assert.ok(first.nextCursor !== null);
        for (const limit of [1, 7, 50, 249, 250, 251, LIMITS.list]) {
          const jobs = await bench.all({ limit });
          assert.deepEqual(
            jobs.map(({ id }) => id),
            ids,
          );
        }
        for (let cursor: string | null = null, pages = 0; pages < 9; pages++) {
          const page = await bench.adapter.list({ limit: 30, ...(cursor !== null && { cursor }) });
          assert.ok(page.jobs.length <= 30);
          if (page.nextCursor === null) break;
          cursor = page.nextCursor;
          assert.notEqual(pages, 8, 'the pages end');
        }
      },
    },
    {
      title: 'shows every job of the beginning once while others come, change and go between the pages',
      async run(bench) {
        const ids = await bench.addAll(60, (i) => ({ id: `m-${String(i).padStart(3, '0')}` }));
        const seen: string[] = [];
        let cursor: string | null = null;
        for (let page = 0; page === 0 || cursor !== null; page++) {
          const answer = await bench.adapter.list({ limit: 7, ...(cursor !== null && { cursor }) });
          seen.push(...answer.jobs.map(({ id }) => id));
          cursor = answer.nextCursor;
          await bench.addAll(3, (i) => ({ id: `${['a', 'm-030', 'z'][i]}-${page}` }));
          await bench.adapter.ack(await bench.take());
        }
        assertRising(seen, 'ids');
        assert.deepEqual(
          seen.filter((id) => ids.includes(id)),
          ids,
        );
      },
    },
    {
      title: 'goes on behind a cursor whose job is gone',
      async run(bench) {
        await bench.addAll(6, (i) => ({ id: `job-${i}` }));
        const page = await bench.adapter.list({ limit: 3 });
        await bench.adapter.cancel(page.nextCursor ?? 'job-2');
        await bench.advance(10);
        assert.equal(await bench.adapter.prune({ keepFinishedMs: 1, keepFinished: 0, keepDeadMs: 0 }), 1);
        const rest = await bench.adapter.list({ limit: 10, cursor: page.nextCursor! });
        assert.deepEqual(
          [...page.jobs, ...rest.jobs].map(({ id }) => id),
          [0, 1, 2, 3, 4, 5].map((i) => `job-${i}`),
        );
      },
    },
    {
      title: 'selects by state, queue and type, and by all of them together',
      async run(bench) {
        await oneOfEach(bench);
        const jobs = await bench.all();
        assert.equal(jobs.length, 12);
        for (const state of [undefined, ...JOB_STATES]) {
          for (const queue of [undefined, 'mail', 'video', 'nowhere']) {
            for (const type of [undefined, 'send', 'cut', 'nothing']) {
              const selected = jobs.filter(
                (job) => (!state || job.state === state) && (!queue || job.queue === queue) && (!type || job.type === type),
              );
              const query = { ...(state && { state }), ...(queue && { queue }), ...(type && { type }) };
              assert.deepEqual(await bench.all({ ...query, limit: 2 }), selected, JSON.stringify(query));
            }
          }
        }
      },
    },
    {
      title: 'finds few jobs among many that are not asked for',
      async run(bench) {
        await bench.addAll(3000);
        const rare = await bench.addAll(3, () => ({ type: 'rare', queue: 'rare' }));
        await bench.addAll(3000);
        for (const query of [{ type: 'rare' }, { queue: 'rare', limit: 1 }, { queue: 'rare', type: 'rare', state: 'ready' as const }]) {
          assert.deepEqual(
            (await bench.all(query)).map(({ id }) => id),
            rare,
          );
        }
        assert.deepEqual(await bench.all({ state: 'dead' }), []);
      },
    },
    {
      title: 'counts every job under its state, through all of its life',
      async run(bench) {
        const expected = { delayed: 0, ready: 0, active: 0, done: 0, dead: 0, cancelled: 0 };
        const is = async (change: Partial<typeof expected>): Promise<void> => {
          Object.assign(expected, change);
          assert.deepEqual(await bench.adapter.counts(), expected);
        };
        await bench.addAll(4, (i) => (i === 3 ? { delayMs: 600 } : {}));
        await is({ ready: 3, delayed: 1 });
        const [one, two, three] = await bench.claim({ limit: 3 });
        await is({ ready: 0, active: 3 });
        await bench.adapter.ack(one!);
        await is({ active: 2, done: 1 });
        await bench.adapter.nack(two!, NO, { dead: true });
        await is({ active: 1, dead: 1 });
        await bench.adapter.cancel(three!.id);
        await is({});
        await bench.adapter.release(three!);
        await is({ active: 0, cancelled: 1 });
        await bench.adapter.redrive(two!.id);
        await is({ dead: 0, ready: 1 });
        await bench.advance(610);
        await bench.claim({ queue: 'another' });
        await is({ delayed: 0, ready: 2 });
        await bench.adapter.prune({ keepFinishedMs: 1, keepFinished: 0, keepDeadMs: 0 });
        await is({ done: 0, cancelled: 0 });
      },
    },
  ],
};
