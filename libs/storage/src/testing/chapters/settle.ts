import assert from 'node:assert/strict';
import type { JobRecord } from '../../contract/index.js';
import type { KitChapter } from '../kit-case.js';

const NO = { code: 'failed', message: 'no' } as const;

function counters({ starts, attempts, requeues, releases }: JobRecord): number[] {
  return [starts, attempts, requeues, releases];
}

export const settle: KitChapter = {
  title: 'the end of a delivery',
  cases: [
    {
      title: 'makes an acked job done, with its result and the time',
      async run(bench) {
        const id = await bench.add();
        const lease = await bench.take();
        await bench.adapter.ack(lease, '{"ok":true}');
        const job = await bench.look(id);
        assert.ok(job.finishedAt !== null && job.finishedAt >= lease.startedAt!);
        assert.deepEqual(job, { ...lease, state: 'done', result: '{"ok":true}', finishedAt: job.finishedAt });
        assert.deepEqual(await bench.claim(), []);
      },
    },
    {
      title: 'keeps a result that is nothing apart from one that is empty',
      async run(bench) {
        const [nothing, empty] = await bench.addAll(2);
        const [first, second] = await bench.claim({ limit: 2 });
        await Promise.all([bench.adapter.ack(first!), bench.adapter.ack(second!, '')]);
        assert.deepEqual([(await bench.look(nothing!)).result, (await bench.look(empty!)).result], [null, '']);
      },
    },
    {
      title: 'charges an attempt for a nack and keeps its error, also when the job succeeds later',
      async run(bench) {
        const id = await bench.add();
        await bench.adapter.nack(await bench.take(), { code: 'timeout', message: 'too slow' }, { retryInMs: 0 });
        const failed = await bench.look(id);
        assert.equal(failed.state, 'ready');
        assert.deepEqual(counters(failed), [1, 1, 0, 0]);
        assert.deepEqual(failed.error, { code: 'timeout', message: 'too slow', at: failed.error!.at });
        assert.ok(failed.error.at >= failed.startedAt!);
        await bench.adapter.ack(await bench.take());
        const done = await bench.look(id);
        assert.deepEqual(counters(done), [2, 1, 0, 0]);
        assert.deepEqual(done.error, failed.error);
      },
    },
    {
      title: 'makes a nacked job wait in delayed for as long as the caller says',
      async run(bench) {
        const id = await bench.add();
        await bench.adapter.nack(await bench.take(), NO, { retryInMs: 300 });
        const waiting = await bench.look(id);
        assert.equal(waiting.state, 'delayed');
        assert.equal(waiting.runAt, waiting.error!.at + 300);
        await bench.advance(100);
        assert.deepEqual(await bench.claim(), [], 'it is not due after 100 ms');
        await bench.advance(210);
        assert.equal((await bench.take()).id, id);
      },
    },
    {
      title: 'gives a released job back at once, without an attempt',
      async run(bench) {
        const id = await bench.add({ maxAttempts: 1 });
        for (let count = 1; count <= 3; count++) {
          await bench.adapter.release(await bench.take());
          const job = await bench.look(id);
          assert.equal(job.state, 'ready');
          assert.equal(job.error, null, 'a release is no failure');
          assert.deepEqual(counters(job), [count, 0, 0, count]);
        }
      },
    },
    {
      title: 'gives a released job back later where it is asked to (snooze)',
      async run(bench) {
        const id = await bench.add({ maxAttempts: 1 });
        await bench.adapter.release(await bench.take(), { inMs: 300 });
        assert.deepEqual([(await bench.look(id)).state, counters(await bench.look(id))], ['delayed', [1, 0, 0, 1]]);
        await bench.advance(100);
        assert.deepEqual(await bench.claim(), []);
        await bench.advance(210);
        assert.equal((await bench.take()).attempts, 0);
      },
    },
    {
      title: 'takes a job away with a requeue: ready again, a higher epoch, the reason as its error, no attempt',
      async run(bench) {
        const id = await bench.add({ maxAttempts: 1 });
        for (const [i, reason] of (['hung', 'lease_expired'] as const).entries()) {
          const lease = await bench.take();
          await bench.adapter.requeue(lease, reason);
          const job = await bench.look(id);
          assert.equal(job.state, 'ready');
          assert.ok(job.epoch > lease.epoch);
          assert.deepEqual(counters(job), [i + 1, 0, i + 1, 0]);
          assert.equal(job.error?.code, reason);
          assert.ok(job.error.message.length > 0);
        }
      },
    },
    {
      title: 'explains every second start, whatever the mixture (R2)',
      async run(bench) {
        const id = await bench.add({ maxAttempts: 9, backoff: { baseMs: 1, capMs: 2 } });
        const steps = 'nrqrnqnrqqnr'.split('');
        const charged = { n: 0, q: 0, r: 0 };
        for (const [i, step] of steps.entries()) {
          const lease = await bench.take();
          if (step === 'n') await bench.adapter.nack(lease, NO, { retryInMs: 1 });
          else if (step === 'q') await bench.adapter.requeue(lease, 'hung');
          else await bench.adapter.release(lease, { inMs: 1 });
          charged[step as 'n']++;
          assert.deepEqual(counters(await bench.look(id)), [i + 1, charged.n, charged.q, charged.r]);
          await bench.advance(10);
        }
        await bench.adapter.ack(await bench.take());
        assert.deepEqual(counters(await bench.look(id)), [steps.length + 1, charged.n, charged.q, charged.r]);
      },
    },
    {
      title: 'ends many deliveries of one instant each in its own way',
      async run(bench) {
        const ids = await bench.addAll(60);
        const jobs = await bench.claim({ limit: 60 });
        await Promise.all(
          jobs.map((job, i) => {
            if (i % 4 === 0) return bench.adapter.ack(job, String(i));
            if (i % 4 === 1) return bench.adapter.nack(job, { code: 'failed', message: String(i) }, { dead: true });
            return i % 4 === 2 ? bench.adapter.release(job) : bench.adapter.requeue(job, 'hung');
          }),
        );
        for (const [i, id] of ids.entries()) {
          const job = await bench.look(id);
          assert.equal(job.state, ['done', 'dead', 'ready', 'ready'][i % 4]);
          if (i % 4 === 0) assert.equal(job.result, String(i));
          if (i % 4 === 1) assert.equal(job.error?.message, String(i));
        }
      },
    },
  ],
};
