import assert from 'node:assert/strict';
import { refused } from '../expectations.js';
import type { KitChapter } from '../kit-case.js';

const SHORT_MS = 200;
const LONG_MS = 600_000;

export const reap: KitChapter = {
  title: 'leases that end by time (R8)',
  cases: [
    {
      title: 'never reaps a lease of its own boot, however old: its end is the end of the process',
      only: ['unshared'],
      async run(bench) {
        await bench.add();
        const lease = await bench.take();
        await bench.adapter.extend([{ lease }], 1);
        await bench.advance(86_400_000);
        assert.equal(await bench.adapter.reap(100), 0);
        assert.deepEqual(await bench.claim({ limit: 10 }), []);
        assert.deepEqual(await bench.look(lease.id), lease);
        await bench.adapter.ack(lease);
      },
    },
    {
      title: 'takes nothing from a worker whose lease has not ended',
      async run(bench) {
        await bench.addAll(3);
        const jobs = await bench.claim({ limit: 3, leaseMs: LONG_MS });
        await bench.advance(SHORT_MS);
        assert.equal(await bench.adapter.reap(100), 0);
        for (const job of jobs) assert.deepEqual(await bench.look(job.id), job);
      },
    },
    {
      title: 'requeues a job whose lease ended: a requeue like any other, with the reason lease_expired',
      only: ['shared'],
      async run(bench) {
        const id = await bench.add();
        const [lease] = await bench.claim({ leaseMs: SHORT_MS });
        await bench.advance(2 * SHORT_MS);
        assert.equal(await bench.adapter.reap(100), 1);
        assert.equal(await bench.adapter.reap(100), 0);
        const job = await bench.look(id);
        assert.deepEqual([job.state, job.requeues, job.attempts, job.error?.code], ['ready', 1, 0, 'lease_expired']);
        assert.ok(job.epoch > lease!.epoch);
        await refused(bench.adapter.ack(lease!), 'lease_lost');
        assert.equal((await bench.take()).id, id);
      },
    },
    {
      title: 'does not requeue a job whose lease was extended in time',
      only: ['shared'],
      async run(bench) {
        await bench.addAll(2);
        const [extended, forgotten] = await bench.claim({ limit: 2, leaseMs: SHORT_MS });
        assert.deepEqual(await bench.adapter.extend([{ lease: extended! }], LONG_MS), ['held']);
        await bench.advance(2 * SHORT_MS);
        assert.equal(await bench.adapter.reap(100), 1);
        assert.equal((await bench.look(extended!.id)).state, 'active');
        assert.equal((await bench.look(forgotten!.id)).state, 'ready');
      },
    },
    {
      title: 'reaps at most as many as it is asked to, and every job once for many reapers',
      only: ['shared'],
      async run(bench) {
        await bench.addAll(25);
        await bench.claim({ limit: 25, leaseMs: SHORT_MS });
        await bench.advance(2 * SHORT_MS);
        assert.equal(await bench.adapter.reap(10), 10);
        const others = await Promise.all([1, 2, 3, 4].map(() => bench.adapter.reap(10)));
        assert.equal(
          others.reduce((sum, count) => sum + count, 0),
          15,
        );
        const jobs = await bench.claim({ limit: 100 });
        assert.equal(jobs.length, 25);
        assert.ok(jobs.every(({ requeues, starts }) => requeues === 1 && starts === 2));
      },
    },
    {
      title: 'makes a job dead or cancelled where a requeue would',
      only: ['shared'],
      async run(bench) {
        const poison = await bench.add({ maxRequeues: 0 });
        const unwanted = await bench.add();
        await bench.claim({ limit: 2, leaseMs: SHORT_MS });
        await bench.adapter.cancel(unwanted);
        await bench.advance(2 * SHORT_MS);
        assert.equal(await bench.adapter.reap(100), 2);
        assert.deepEqual([(await bench.look(poison)).state, (await bench.look(unwanted)).state], ['dead', 'cancelled']);
      },
    },
  ],
};
