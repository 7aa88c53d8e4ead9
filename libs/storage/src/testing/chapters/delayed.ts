import assert from 'node:assert/strict';
import { pending, within } from '../expectations.js';
import type { KitChapter } from '../kit-case.js';
import type { Workbench } from '../workbench.js';

const DAY_MS = 86_400_000;

async function claimedIds(bench: Workbench, limit = 1000, queue = 'default'): Promise<string[]> {
  return (await bench.claim({ limit, queue })).map(({ id }) => id);
}

export const delayed: KitChapter = {
  title: 'delayed jobs',
  cases: [
    {
      title: 'hands out a delayed job when it is due, not before',
      async run(bench) {
        const id = await bench.add({ delayMs: 300 });
        const job = await bench.look(id);
        assert.deepEqual([job.state, job.runAt], ['delayed', job.createdAt + 300]);
        await bench.advance(150);
        assert.deepEqual(await claimedIds(bench), []);
        await bench.advance(160);
        assert.deepEqual(await claimedIds(bench), [id]);
      },
    },
    {
      title: 'hands it out at the very millisecond',
      only: ['unshared'],
      async run(bench) {
        const id = await bench.add({ delayMs: 300 });
        await bench.advance(299);
        assert.deepEqual(await claimedIds(bench), []);
        await bench.advance(1);
        assert.deepEqual(await claimedIds(bench), [id]);
      },
    },
    {
      title: 'takes a delay of 0 and an instant in the past for now',
      async run(bench) {
        const first = await bench.add({ delayMs: 0 });
        const { createdAt } = await bench.look(first);
        const later = await bench.addAll(3, (i) => ({ runAt: [0, createdAt - DAY_MS, createdAt][i]! }));
        for (const id of later) assert.equal((await bench.look(id)).state, 'ready');
        assert.deepEqual(await claimedIds(bench), [first, ...later], 'in the order of enqueue');
      },
    },
    {
      title: 'hands out a job with an instant when the wall clock has reached it',
      async run(bench) {
        const { createdAt } = await bench.look(await bench.add({ queue: 'probe' }));
        const id = await bench.add({ runAt: createdAt + 500 });
        const job = await bench.look(id);
        assert.deepEqual([job.state, job.runAt], ['delayed', createdAt + 500]);
        await bench.advance(200);
        assert.deepEqual(await claimedIds(bench), []);
        await bench.advance(310);
        assert.deepEqual(await claimedIds(bench), [id]);
      },
    },
    {
      title: 'makes due jobs ready with a claim, of any queue, and in due order',
      async run(bench) {
        const delays = [50, 10, 40, 20, 30];
        const ids = await bench.addAll(5, (i) => ({ delayMs: delays[i]! }));
        await bench.advance(60);
        assert.equal((await bench.look(ids[0]!)).state, 'delayed', 'nobody claimed since they are due');
        assert.deepEqual(await claimedIds(bench, 1, 'another'), []);
        assert.equal((await bench.look(ids[0]!)).state, 'ready');
        assert.deepEqual(
          await claimedIds(bench),
          [1, 3, 4, 2, 0].map((i) => ids[i]),
        );
      },
    },
    {
      title: 'lets due jobs join behind those that are ready already, each in its priority',
      async run(bench) {
        const [due, dueHigh] = await bench.addAll(2, (i) => ({ delayMs: 5, priority: i === 0 ? 5 : 9 }));
        await bench.advance(20);
        const ready = await bench.add();
        assert.deepEqual(await claimedIds(bench), [dueHigh, ready, due]);
      },
    },
    {
      title: 'makes at most 100 jobs ready a claim, the earliest first, and loses none of 250',
      async run(bench) {
        const ids = await bench.addAll(250, (i) => ({ delayMs: 260 - i }));
        await bench.advance(300);
        const earliest = [...ids].reverse();
        assert.deepEqual(await claimedIds(bench), earliest.slice(0, 100));
        assert.equal((await bench.adapter.counts()).delayed, 150);
        assert.deepEqual(await claimedIds(bench, 1000, 'another'), []);
        assert.deepEqual([(await bench.adapter.counts()).delayed, (await bench.adapter.counts()).ready], [50, 100]);
        assert.deepEqual(await claimedIds(bench), earliest.slice(100));
        assert.deepEqual(await claimedIds(bench), []);
      },
    },
    {
      title: 'does not run a job early whose delay no timer can hold (D01)',
      async run(bench) {
        await bench.addAll(4, (i) => ({ delayMs: [2 ** 31 - 1, 2 ** 31, 2 ** 32, 1e12][i]! }));
        const waiting = bench.claim({ waitMs: 100 });
        assert.deepEqual(await bench.during(waiting, 200, 'a claim whose time is over'), []);
        assert.equal((await bench.adapter.counts()).delayed, 4);
      },
    },
    {
      title: 'runs a job whose delay no timer can hold when it is due, also for a claim that waits all the time (D01)',
      only: ['unshared'],
      async run(bench) {
        const delays = [2 ** 31 - 1, 2 ** 31 + 1000, 2 ** 32];
        const ids = await bench.addAll(3, (i) => ({ delayMs: delays[i]! }));
        let passed = 0;
        for (const [i, delay] of delays.entries()) {
          const waiting = bench.claim({ waitMs: 2 ** 33 });
          await bench.advance(delay - 1 - passed);
          await pending(waiting, `${delay} ms have not passed`);
          await bench.advance(1);
          passed = delay;
          assert.equal((await within(waiting, `the job with a delay of ${delay} ms`))[0]?.id, ids[i]);
        }
      },
    },
    {
      title: 'starts a delayed job once: it has no lease that could end before it is due (C19)',
      async run(bench) {
        const id = await bench.add({ delayMs: 150 });
        await bench.claim({ leaseMs: 10 });
        await bench.advance(100);
        await bench.adapter.reap(100);
        await bench.advance(60);
        const [job] = await bench.claim({ limit: 5 });
        assert.deepEqual([job!.id, job!.starts, job!.requeues], [id, 1, 0]);
        assert.deepEqual(await claimedIds(bench), []);
      },
    },
    {
      title: 'does not hand out a delayed job that was cancelled',
      async run(bench) {
        const ids = await bench.addAll(30, (i) => ({ delayMs: 1 + (i % 7) }));
        for (const [i, id] of ids.entries()) if (i % 2 === 0) await bench.adapter.cancel(id);
        await bench.advance(20);
        assert.deepEqual((await claimedIds(bench)).sort(), ids.filter((_, i) => i % 2 === 1).sort());
      },
    },
  ],
};
