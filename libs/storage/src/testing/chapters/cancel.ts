import assert from 'node:assert/strict';
import type { Lease, StorageAdapter } from '../../contract/index.js';
import { pending, refused } from '../expectations.js';
import type { KitCase, KitChapter } from '../kit-case.js';

const NO = { code: 'failed', message: 'no' } as const;

/** All that can end the delivery of a job whose cancellation was requested, but an ack. */
const ENDINGS: Readonly<Record<string, (adapter: StorageAdapter, lease: Lease) => Promise<void>>> = {
  'a nack': (adapter, lease) => adapter.nack(lease, NO, { retryInMs: 0 }),
  'a nack for later': (adapter, lease) => adapter.nack(lease, NO, { retryInMs: 50_000 }),
  'a nack for good': (adapter, lease) => adapter.nack(lease, NO, { dead: true }),
  'a release': (adapter, lease) => adapter.release(lease),
  'a release for later': (adapter, lease) => adapter.release(lease, { inMs: 50_000 }),
  'a requeue': (adapter, lease) => adapter.requeue(lease, 'hung'),
};

const endings: KitCase[] = Object.entries(ENDINGS).map(([what, end]) => ({
  title: `makes an active job cancelled when ${what} ends its delivery, and charges nothing for it`,
  async run(bench) {
    const id = await bench.add({ maxAttempts: 1, maxRequeues: 0 });
    const lease = await bench.take();
    await bench.adapter.cancel(id);
    await end(bench.adapter, lease);
    const job = await bench.look(id);
    assert.equal(job.state, 'cancelled');
    assert.deepEqual([job.starts, job.attempts, job.requeues, job.releases], [1, 0, 0, 0]);
    assert.ok(job.finishedAt !== null);
    await end(bench.adapter, lease); // a repetition, as of any settle (R4)
    await refused(bench.adapter.ack(lease), 'lease_lost');
    assert.deepEqual(await bench.look(id), job);
    await bench.advance(10);
    assert.deepEqual(await bench.claim({ limit: 10 }), []);
  },
}));

export const cancel: KitChapter = {
  title: 'cancel',
  cases: [
    {
      title: 'cancels a delayed or ready job at once',
      async run(bench) {
        const ids = await bench.addAll(2, (i) => (i === 0 ? {} : { delayMs: 50 }));
        for (const id of ids) {
          const before = await bench.look(id);
          const job = await bench.adapter.cancel(id);
          assert.ok(job.finishedAt !== null);
          assert.deepEqual(job, { ...before, state: 'cancelled', finishedAt: job.finishedAt });
          assert.deepEqual(await bench.look(id), job);
        }
        await bench.advance(60);
        assert.deepEqual(await bench.claim({ limit: 10 }), []);
        assert.equal((await bench.adapter.counts()).cancelled, 2);
      },
    },
    {
      title: 'cancels a job that waits for another attempt',
      async run(bench) {
        const id = await bench.add();
        await bench.adapter.nack(await bench.take(), NO, { retryInMs: 20 });
        const job = await bench.adapter.cancel(id);
        assert.deepEqual([job.state, job.attempts, job.error?.code], ['cancelled', 1, 'failed']);
        await bench.advance(30);
        assert.deepEqual(await bench.claim(), []);
      },
    },
    {
      title: 'requests the cancellation of an active job: it stays active, and its worker is told by extend',
      async run(bench) {
        const id = await bench.add();
        const lease = await bench.take();
        const job = await bench.adapter.cancel(id);
        assert.deepEqual(job, { ...lease, cancelRequested: true });
        assert.deepEqual(await bench.adapter.extend([{ lease }], 1000), ['cancel_requested']);
        assert.deepEqual(await bench.adapter.cancel(id), job, 'again is the same');
        assert.deepEqual(await bench.look(id), job);
      },
    },
    ...endings,
    {
      title: 'answers the ack of a job whose cancellation was requested with lease_lost, and the job is cancelled',
      async run(bench) {
        const id = await bench.add();
        const lease = await bench.take();
        await bench.adapter.cancel(id);
        await refused(bench.adapter.ack(lease, 'result'), 'lease_lost');
        const job = await bench.look(id);
        assert.deepEqual([job.state, job.result, job.starts, job.attempts + job.requeues + job.releases], ['cancelled', null, 1, 0]);
        await refused(bench.adapter.ack(lease, 'result'), 'lease_lost', 'the same ack again is still refused');
        await refused(bench.adapter.release(lease), 'lease_lost', 'the delivery has ended');
      },
    },
    {
      title: 'refuses what is over, and what nobody knows',
      async run(bench) {
        await bench.addAll(3);
        const [done, dead, cancelled] = await bench.claim({ limit: 3 });
        await bench.adapter.ack(done!);
        await bench.adapter.nack(dead!, NO, { dead: true });
        await bench.adapter.cancel(cancelled!.id);
        await bench.adapter.release(cancelled!);
        for (const { id } of [done!, dead!, cancelled!]) {
          const before = await bench.look(id);
          await refused(bench.adapter.cancel(id), 'already_finished');
          assert.deepEqual(await bench.look(id), before);
        }
        await refused(bench.adapter.cancel('nobody'), 'not_found');
      },
    },
    {
      title: 'lets either the cancel or the ack of the same instant win, never both',
      async run(bench) {
        for (const cancelFirst of [true, false]) {
          const id = await bench.add();
          const lease = await bench.take();
          const acking = (): Promise<unknown> => bench.adapter.ack(lease);
          const cancelling = (): Promise<unknown> => bench.adapter.cancel(id);
          const calls = cancelFirst ? [cancelling(), acking()] : [acking(), cancelling()];
          const [first, second] = await Promise.allSettled(calls);
          const ack = cancelFirst ? second! : first!;
          const { state } = await bench.look(id);
          assert.equal(state, ack.status === 'fulfilled' ? 'done' : 'cancelled');
        }
      },
    },
    {
      title: 'lets a claim and a cancel of the same instant agree: not handed out, or told to its worker',
      async run(bench) {
        for (let round = 0; round < 10; round++) {
          const id = await bench.add();
          const claiming = bench.claim();
          const cancelling = bench.adapter.cancel(id);
          const [jobs] = await Promise.all([claiming, cancelling]);
          const outcomes = await bench.adapter.extend(
            jobs.map((lease) => ({ lease })),
            1000,
          );
          if (jobs.length === 0) assert.equal((await bench.look(id)).state, 'cancelled');
          else assert.deepEqual(outcomes, ['cancel_requested']);
          for (const job of jobs) await bench.adapter.release(job);
        }
      },
    },
    {
      title: 'does not wake anybody',
      async run(bench) {
        const id = await bench.add({ delayMs: 50_000 });
        const controller = new AbortController();
        const waiting = bench.claim({ waitMs: 60_000, signal: controller.signal });
        await bench.adapter.cancel(id);
        await pending(waiting, 'a cancelled job is nothing to claim');
        controller.abort();
        assert.deepEqual(await waiting, []);
      },
    },
  ],
};
