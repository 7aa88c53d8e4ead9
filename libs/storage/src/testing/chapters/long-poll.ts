import assert from 'node:assert/strict';
import type { JobRecord } from '../../contract/index.js';
import { pending, turns, within } from '../expectations.js';
import type { KitCase, KitChapter } from '../kit-case.js';
import type { Workbench } from '../workbench.js';

const LONG_MS = 60_000;

/** Something that makes a job ready; resolves with its id. */
type Waker = (bench: Workbench, lease: JobRecord) => Promise<string>;

const WAKERS: Readonly<Record<string, Waker>> = {
  'an enqueue': (bench) => bench.add(),
  'a release': (bench, lease) => bench.adapter.release(lease).then(() => lease.id),
  'a requeue': (bench, lease) => bench.adapter.requeue(lease, 'hung').then(() => lease.id),
  'a retry at once': (bench, lease) => bench.adapter.nack(lease, { code: 'failed', message: 'no' }, { retryInMs: 0 }).then(() => lease.id),
  'a redrive': async (bench, lease) => {
    await bench.adapter.nack(lease, { code: 'failed', message: 'no' }, { dead: true });
    return (await bench.adapter.redrive(lease.id)).id;
  },
};

const wakes: KitCase[] = Object.entries(WAKERS).map(([what, wake]) => ({
  title: `is woken by ${what}`,
  async run(bench) {
    await bench.add();
    const lease = await bench.take();
    const waiting = bench.claim({ waitMs: LONG_MS });
    await pending(waiting, 'the claim waits while nothing is ready');
    const id = await wake(bench, lease);
    const jobs = await within(waiting, `a claim that is woken by ${what}`);
    assert.deepEqual(
      jobs.map((job) => job.id),
      [id],
    );
  },
}));

export const longPoll: KitChapter = {
  title: 'a claim that waits',
  cases: [
    ...wakes,
    {
      title: 'is woken when a job becomes due, not before',
      async run(bench) {
        const id = await bench.add({ delayMs: 200 });
        const waiting = bench.claim({ waitMs: LONG_MS });
        await bench.advance(100);
        await pending(waiting, 'the job is not due yet');
        const jobs = await bench.during(waiting, 200, 'a claim that is woken by a due job');
        assert.deepEqual(
          jobs.map((job) => job.id),
          [id],
        );
      },
    },
    {
      title: 'is woken by the earlier one when a job with a shorter delay comes while it waits',
      async run(bench) {
        await bench.add({ delayMs: LONG_MS });
        const waiting = bench.claim({ waitMs: LONG_MS });
        await pending(waiting, 'nothing is due');
        const id = await bench.add({ delayMs: 20 });
        const jobs = await bench.during(waiting, 100, 'a claim that is woken by the earlier job');
        assert.equal(jobs[0]?.id, id);
      },
    },
    {
      title: 'ends with nothing after waitMs, not before',
      async run(bench) {
        const waiting = bench.claim({ waitMs: 200 });
        await bench.advance(100);
        await pending(waiting, 'waitMs has not passed');
        assert.deepEqual(await bench.during(waiting, 300, 'a claim whose time is over'), []);
      },
    },
    {
      title: 'gives what is ready at once, without waiting for more',
      async run(bench) {
        const ids = await bench.addAll(2);
        const jobs = await within(bench.claim({ limit: 5, waitMs: LONG_MS }), 'a claim that has something');
        assert.deepEqual(
          jobs.map(({ id }) => id),
          ids,
        );
      },
    },
    {
      title: 'ends with nothing at once when it is aborted, and before it begins too',
      async run(bench) {
        const controller = new AbortController();
        const waiting = bench.claim({ waitMs: LONG_MS, signal: controller.signal });
        await pending(waiting, 'the claim waits');
        controller.abort();
        assert.deepEqual(await within(waiting, 'an aborted claim'), []);
        assert.deepEqual(await within(bench.claim({ waitMs: LONG_MS, signal: controller.signal }), 'a claim that was aborted before'), []);
      },
    },
    {
      title: 'loses no job that comes after the abort',
      async run(bench) {
        const controller = new AbortController();
        const waiting = bench.claim({ waitMs: LONG_MS, signal: controller.signal });
        await pending(waiting, 'the claim waits');
        controller.abort();
        const id = await bench.add();
        assert.deepEqual(await within(waiting, 'an aborted claim'), []);
        const job = await bench.take();
        assert.deepEqual([job.id, job.starts - job.releases, job.attempts, job.requeues], [id, 1, 0, 0]);
      },
    },
    {
      title: 'loses no job that comes at the very instant of the abort: it is given, or given back at no charge',
      async run(bench) {
        for (const turnsBefore of [0, 1, 2, 3]) {
          const controller = new AbortController();
          const waiting = bench.claim({ waitMs: LONG_MS, signal: controller.signal });
          await pending(waiting, 'the claim waits');
          const adding = bench.add();
          await turns(turnsBefore);
          controller.abort();
          const id = await adding;
          const given = await within(waiting, 'an aborted claim');
          const job = given[0] ?? (await bench.during(bench.claim({ waitMs: 100 }), 200, 'the next claim'))[0];
          assert.equal(job?.id, id);
          assert.deepEqual([job.attempts, job.requeues], [0, 0]);
          await bench.adapter.ack(job);
        }
      },
    },
    {
      title: 'leaves nothing behind: an aborted or ended claim takes no later job',
      async run(bench) {
        const controller = new AbortController();
        const aborted = Array.from({ length: 5 }, () => bench.claim({ waitMs: LONG_MS, signal: controller.signal }));
        const ended = bench.claim({ waitMs: 10 });
        await bench.during(ended, 50, 'a claim whose time is over');
        controller.abort();
        await Promise.all(aborted);
        const ids = await bench.addAll(10);
        assert.deepEqual(
          (await bench.claim({ limit: 20 })).map(({ id }) => id),
          ids,
        );
      },
    },
    {
      title: 'shares what comes among all that wait: one job, one claim; the others go on waiting',
      async run(bench) {
        const controller = new AbortController();
        const claims = Array.from({ length: 4 }, () => bench.claim({ waitMs: LONG_MS, signal: controller.signal }));
        await pending(Promise.race(claims), 'all of them wait');
        const ids = await bench.addAll(3);
        const given: JobRecord[] = [];
        const open = new Set(claims);
        const three = new Promise<void>((resolve) => {
          for (const waiting of claims) {
            void waiting.then((jobs) => {
              given.push(...jobs);
              open.delete(waiting);
              if (given.length === ids.length) resolve();
            });
          }
        });
        await within(three, 'three jobs for three claims');
        await pending(Promise.all(open), 'the fourth goes on waiting');
        assert.deepEqual(given.map(({ id }) => id).sort(), [...ids].sort());
        const last = await bench.add();
        const [waiting] = [...open];
        assert.equal((await within(waiting!, 'the fourth claim'))[0]?.id, last);
        controller.abort();
      },
    },
    {
      title: 'is not ended by what happens in another queue',
      async run(bench) {
        const controller = new AbortController();
        const waiting = bench.claim({ queue: 'mine', waitMs: LONG_MS, signal: controller.signal });
        await bench.addAll(3, (i) => ({ queue: 'other', ...(i === 2 && { delayMs: 5 }) }));
        await bench.claim({ queue: 'other', limit: 5 });
        await bench.advance(20);
        await bench.claim({ queue: 'other', limit: 5 });
        await pending(waiting, 'nothing came for it');
        const id = await bench.add({ queue: 'mine' });
        assert.equal((await within(waiting, 'a claim that has something'))[0]?.id, id);
      },
    },
    {
      title: 'is not ended by a job that was cancelled before it could be taken',
      async run(bench) {
        await bench.adapter.cancel(await bench.add());
        const waiting = bench.claim({ waitMs: LONG_MS });
        await pending(waiting, 'a cancelled job is nothing to claim');
        const id = await bench.add();
        assert.equal((await within(waiting, 'a claim that has something'))[0]?.id, id);
      },
    },
    {
      title: 'is woken for every due job, also of a hundred that are due at once in many queues',
      async run(bench) {
        const queues = Array.from({ length: 100 }, (_, i) => `q${i}`);
        const claims = queues.map((queue) => bench.claim({ queue, waitMs: LONG_MS }));
        const ids = await bench.addAll(300, (i) => ({ queue: queues[i % 100]!, delayMs: 50 }));
        const given = await bench.during(Promise.all(claims), 100, 'a claim for every queue');
        assert.deepEqual(
          given.map((jobs) => jobs[0]?.id),
          ids.slice(0, 100),
        );
      },
    },
  ],
};
