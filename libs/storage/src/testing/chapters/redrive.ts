import assert from 'node:assert/strict';
import { refused } from '../expectations.js';
import type { KitChapter } from '../kit-case.js';
import type { Workbench } from '../workbench.js';

const NO = { code: 'failed', message: 'no' } as const;

async function die(bench: Workbench, id: string): Promise<void> {
  const lease = await bench.take();
  assert.equal(lease.id, id);
  await bench.adapter.nack(lease, NO, { dead: true });
}

export const redrive: KitChapter = {
  title: 'redrive',
  cases: [
    {
      title: 'makes a dead job ready as if it had never run; its epoch and its last error stay (R10)',
      async run(bench) {
        const id = await bench.add({ maxAttempts: 4, backoff: { baseMs: 0, capMs: 0 } });
        await bench.adapter.release(await bench.take());
        await bench.adapter.requeue(await bench.take(), 'hung');
        await bench.adapter.nack(await bench.take(), NO, { retryInMs: 0 });
        await die(bench, id);
        const dead = await bench.look(id);
        const job = await bench.adapter.redrive(id);
        const zero = { starts: 0, attempts: 0, requeues: 0, releases: 0 };
        assert.deepEqual(job, { ...dead, ...zero, state: 'ready', finishedAt: null, runAt: job.runAt });
        assert.deepEqual(await bench.look(id), job);
        const next = await bench.take();
        assert.deepEqual([next.id, next.starts], [id, 1]);
        assert.ok(next.epoch > dead.epoch);
      },
    },
    {
      title: 'gives the job all its attempts again',
      async run(bench) {
        const id = await bench.add({ maxAttempts: 2 });
        for (let round = 0; round < 2; round++) {
          await bench.adapter.nack(await bench.take(), NO, { retryInMs: 0 });
          assert.equal((await bench.look(id)).state, 'ready');
          await bench.adapter.nack(await bench.take(), NO, { retryInMs: 0 });
          assert.equal((await bench.look(id)).state, 'dead');
          await bench.adapter.redrive(id);
        }
      },
    },
    {
      title: 'gives a poison job all its requeues again, the first two without a wait',
      async run(bench) {
        const id = await bench.add({ maxRequeues: 2, backoff: { baseMs: 5000, capMs: 5000 } });
        for (let round = 0; round < 2; round++) {
          for (const state of ['ready', 'ready', 'dead']) {
            await bench.adapter.requeue(await bench.take(), 'hung');
            assert.equal((await bench.look(id)).state, state);
          }
          await bench.adapter.redrive(id);
        }
      },
    },
    {
      title: 'refuses a job that is not dead, and one that nobody knows',
      async run(bench) {
        await bench.addAll(2, () => ({ priority: 9 }));
        const [done, active] = await bench.claim({ limit: 2 });
        await bench.adapter.ack(done!);
        const [ready, delayed, cancelled] = await bench.addAll(3, (i) => (i === 1 ? { delayMs: 100_000 } : {}));
        await bench.adapter.cancel(cancelled!);
        for (const id of [done!.id, active!.id, ready!, delayed!, cancelled!]) {
          const before = await bench.look(id);
          await refused(bench.adapter.redrive(id), 'not_dead', `redrive of a job that is ${before.state}`);
          assert.deepEqual(await bench.look(id), before);
        }
        await refused(bench.adapter.redrive('nobody'), 'not_found');
      },
    },
    {
      title: 'acts once for two redrives of the same instant',
      async run(bench) {
        const id = await bench.add();
        await die(bench, id);
        const calls = [bench.adapter.redrive(id), bench.adapter.redrive(id)];
        const results = await Promise.allSettled(calls);
        assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
        assert.equal((await bench.claim({ limit: 10 })).length, 1);
      },
    },
  ],
};
