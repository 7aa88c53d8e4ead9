import assert from 'node:assert/strict';
import type { KitChapter } from '../kit-case.js';
import { pending } from '../expectations.js';

const DAY_MS = 86_400_000;
const NO = { code: 'failed', message: 'no' } as const;

export const clocks: KitChapter = {
  title: 'a wall clock that jumps (R9, D06)',
  cases: [
    {
      title: 'does not release delays when the wall clock jumps forward: they are durations',
      only: ['unshared'],
      async run(bench) {
        const ids = await bench.addAll(3, () => ({ delayMs: 1000, backoff: { baseMs: 0, capMs: 0 } }));
        await bench.addAll(2, () => ({ priority: 9 }));
        const [first, second] = await bench.claim({ limit: 2 });
        await bench.adapter.nack(first!, NO, { retryInMs: 1000 });
        await bench.adapter.release(second!, { inMs: 1000 });
        await bench.jumpWall(DAY_MS);
        assert.deepEqual(await bench.claim({ limit: 10 }), []);
        await bench.advance(999);
        assert.deepEqual(await bench.claim({ limit: 10 }), []);
        await bench.advance(1);
        assert.equal((await bench.claim({ limit: 10 })).length, ids.length + 2);
      },
    },
    {
      title: 'does not hold delays back when the wall clock jumps back',
      only: ['unshared'],
      async run(bench) {
        const id = await bench.add({ delayMs: 1000 });
        await bench.jumpWall(-DAY_MS);
        await bench.advance(1000);
        assert.equal((await bench.take()).id, id);
      },
    },
    {
      title: 'lets the wall clock decide about jobs with an instant, and nothing else',
      only: ['unshared'],
      async run(bench) {
        const { createdAt } = await bench.look(await bench.add({ queue: 'probe' }));
        const id = await bench.add({ runAt: createdAt + DAY_MS });
        await bench.jumpWall(-1000);
        await bench.advance(DAY_MS);
        assert.deepEqual(await bench.claim(), [], 'the wall clock is a second before the instant');
        await bench.jumpWall(1000);
        assert.equal((await bench.take()).id, id);
      },
    },
    {
      title: 'wakes a claim that waits for a duration in spite of a jump back',
      only: ['unshared'],
      async run(bench) {
        const id = await bench.add({ delayMs: 100 });
        const waiting = bench.claim({ waitMs: 60_000 });
        await pending(waiting, 'the job is not due');
        await bench.jumpWall(-DAY_MS);
        const jobs = await bench.during(waiting, 120, 'a claim that is woken by a due job');
        assert.equal(jobs[0]?.id, id);
      },
    },
    {
      title: 'takes no job from its worker when the wall clock jumps: no requeue storm',
      only: ['unshared'],
      async run(bench) {
        await bench.addAll(20);
        const jobs = await bench.claim({ limit: 20, leaseMs: 1000 });
        for (const jump of [DAY_MS, -2 * DAY_MS]) {
          await bench.jumpWall(jump);
          await bench.advance(10);
          assert.equal(await bench.adapter.reap(100), 0);
          assert.deepEqual(await bench.claim({ limit: 100 }), []);
        }
        await Promise.all(jobs.map((job) => bench.adapter.ack(job)));
      },
    },
    {
      title: 'measures the age of finished jobs by what it has seen, not by the wall clock (R16)',
      only: ['unshared'],
      async run(bench) {
        await bench.add();
        await bench.adapter.ack(await bench.take());
        await bench.jumpWall(10 * DAY_MS);
        assert.equal(await bench.adapter.prune({ keepFinishedMs: DAY_MS, keepFinished: 0, keepDeadMs: 0 }), 0);
        await bench.jumpWall(-20 * DAY_MS);
        await bench.advance(DAY_MS + 1);
        assert.equal(await bench.adapter.prune({ keepFinishedMs: DAY_MS, keepFinished: 0, keepDeadMs: 0 }), 1);
      },
    },
    {
      title: 'counts the rest of a delay by the wall clock when it opens again, down to nothing',
      only: ['persistent', 'unshared'],
      async run(bench) {
        const id = await bench.add({ delayMs: 10_000 });
        await bench.advance(2000);
        await bench.reopen();
        await bench.advance(7999);
        assert.deepEqual(await bench.claim(), [], 'it waits 10 s, the time before the reopening included');
        await bench.jumpWall(DAY_MS);
        await bench.reopen();
        assert.equal((await bench.take()).id, id, 'a day later by the wall clock it is long due');
      },
    },
    {
      title: 'counts the rest of a delay never longer than the delay, whatever the wall clock says when it opens again',
      only: ['persistent', 'unshared'],
      async run(bench) {
        const id = await bench.add({ delayMs: 10_000 });
        await bench.advance(5000);
        await bench.jumpWall(-365 * DAY_MS);
        await bench.reopen();
        await bench.advance(9999);
        assert.deepEqual(await bench.claim(), []);
        await bench.advance(1);
        assert.equal((await bench.take()).id, id);
      },
    },
  ],
};
