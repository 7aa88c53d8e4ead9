import assert from 'node:assert/strict';
import type { JobRecord } from '../../contract/index.js';
import { refused } from '../expectations.js';
import type { KitCase, KitChapter } from '../kit-case.js';
import type { Workbench } from '../workbench.js';

const NO = { code: 'failed', message: 'no' } as const;
type Way = 'reopen' | 'crash';

/** One job in each state but active, with everything a job can have; resolves with what they look like. */
async function everyKind(bench: Workbench): Promise<JobRecord[]> {
  await bench.addAll(5, (i) => ({ payload: 'x'.repeat(i * 5000), dedupeKey: `key ${i} \u{1f511}`, priority: 9, maxAttempts: 3 }));
  const [done, dead, cancelled, retried, released] = await bench.claim({ limit: 5 });
  await bench.adapter.extend([{ lease: done!, progress: { percent: 99.5, note: 'almost' }, log: ['one', 'two \u0000'] }], 1000);
  await bench.adapter.ack(done!, '{"result":"Grüße"}');
  await bench.adapter.nack(dead!, { code: 'discarded', message: 'useless' }, { dead: true });
  await bench.adapter.cancel(cancelled!.id);
  await bench.adapter.requeue(cancelled!, 'hung');
  await bench.adapter.nack(retried!, NO, { retryInMs: 100_000 });
  await bench.adapter.release(released!);
  await bench.adapter.cancel(await bench.add());
  await bench.addAll(3, (i) => ({ queue: 'other', delayMs: 50_000 * i, backoff: { baseMs: 1, capMs: 2 }, timeoutMs: 7 }));
  return bench.all();
}

/** The same claim for a clean close and for a crash. */
function both(title: string, run: (bench: Workbench, die: () => Promise<void>) => Promise<void>, unshared = false): KitCase[] {
  return (['reopen', 'crash'] as const).map((way: Way) => ({
    title: `${title}, over a ${way === 'crash' ? 'crash' : 'clean close'}`,
    only: unshared ? ['persistent', 'unshared'] : ['persistent'],
    run: (bench: Workbench) => run(bench, () => bench[way]()),
  }));
}

export const durability: KitChapter = {
  title: 'closing, dying, opening again (R1, R14)',
  cases: [
    ...both('keeps every job as it was last shown', async (bench, die) => {
      const before = await everyKind(bench);
      for (let i = 0; i < 3; i++) {
        await die();
        assert.deepEqual(await bench.all(), before);
        await bench.checkBooks();
      }
    }),
    ...both('keeps the order of ready jobs: priority, then first in, then those that came back', async (bench, die) => {
      const ids = await bench.addAll(6, (i) => ({ id: `${['z', 'c', 'y', 'a', 'x', 'b'][i]}-job`, priority: i === 3 ? 9 : 5 }));
      const back = await bench.claim({ limit: 3 });
      for (const job of [...back].reverse()) await bench.adapter.release(job);
      await bench.all();
      await die();
      const order = (await bench.claim({ limit: 10 })).map(({ id }) => id);
      assert.deepEqual(order, [ids[3], ids[2], ids[4], ids[5], ids[1], ids[0]]);
    }),
    ...both('keeps what delayed jobs have left to wait, and their due order', async (bench, die) => {
      const ids = await bench.addAll(4, (i) => ({ delayMs: [400, 200, 300, 100_000][i]! }));
      await bench.advance(50);
      await die();
      assert.deepEqual(await bench.claim({ limit: 10 }), []);
      await bench.advance(400);
      assert.deepEqual(
        (await bench.claim({ limit: 10 })).map(({ id }) => id),
        [ids[1], ids[2], ids[0]],
      );
    }),
    ...both('knows equal and different requests again (R11)', async (bench, die) => {
      const job = bench.newJob({ id: 'one', dedupeKey: 'key', fingerprint: 'f' });
      await bench.adapter.enqueue([job]);
      await die();
      const outcomes = [await bench.adapter.enqueue([job]), await bench.adapter.enqueue([{ ...job, id: 'two' }])];
      assert.deepEqual(
        outcomes.flat().map(({ id, created }) => [id, created]),
        [
          ['one', false],
          ['one', false],
        ],
      );
      await refused(bench.adapter.enqueue([{ ...job, fingerprint: 'g' }]), 'conflict');
      await refused(bench.adapter.enqueue([bench.newJob({ dedupeKey: 'key', fingerprint: 'g' })]), 'conflict');
    }),
    ...both('knows the last settle again (R4)', async (bench, die) => {
      await bench.addAll(4, () => ({ backoff: { baseMs: 0, capMs: 0 } }));
      const [acked, nacked, released, requeued] = await bench.claim({ limit: 4 });
      const calls: ((other?: boolean) => Promise<void>)[] = [
        (other) => bench.adapter.ack(acked!, other ? 'other' : 'result'),
        (other) => bench.adapter.nack(nacked!, NO, other ? { dead: true } : { retryInMs: 60_000 }),
        (other) => bench.adapter.release(released!, { inMs: other ? 0 : 60_000 }),
        (other) => bench.adapter.requeue(requeued!, other ? 'lease_expired' : 'hung'),
      ];
      for (const call of calls) await call();
      const before = await bench.all();
      await die();
      for (const call of calls) {
        await call();
        await refused(call(true), 'lease_lost');
      }
      assert.deepEqual(await bench.all(), before);
    }),
    ...both('keeps a redrive: ready, counters at 0, a higher epoch with the next claim', async (bench, die) => {
      const id = await bench.add();
      const lease = await bench.take();
      await bench.adapter.nack(lease, NO, { dead: true });
      const redriven = await bench.adapter.redrive(id);
      await die();
      assert.deepEqual(await bench.look(id), redriven);
      assert.ok((await bench.take()).epoch > lease.epoch);
      await refused(bench.adapter.nack(lease, NO, { dead: true }), 'lease_lost');
    }),
    ...both('keeps forgotten jobs forgotten', async (bench, die) => {
      const ids = await bench.addAll(20);
      for (const job of await bench.claim({ limit: 15 })) await bench.adapter.ack(job);
      assert.equal(await bench.adapter.prune({ keepFinishedMs: 0, keepFinished: 5, keepDeadMs: 0 }), 10);
      const kept = (await bench.all()).map(({ id }) => id);
      assert.deepEqual(kept, ids.slice(10));
      await die();
      assert.deepEqual(
        (await bench.all()).map(({ id }) => id),
        kept,
      );
      assert.equal(await bench.adapter.prune({ keepFinishedMs: 0, keepFinished: 2, keepDeadMs: 0 }), 3);
      assert.deepEqual(
        (await bench.all()).map(({ id }) => id),
        ids.slice(13),
        'and the oldest of the rest go next',
      );
    }),
    ...both('forgets by age what has become old since, and not what is young', async (bench, die) => {
      const old = await bench.add();
      await bench.adapter.ack(await bench.take());
      await die();
      assert.equal(await bench.adapter.prune({ keepFinishedMs: 600_000, keepFinished: 0, keepDeadMs: 0 }), 0);
      await bench.advance(400);
      const young = await bench.add();
      await bench.adapter.ack(await bench.take());
      assert.equal(await bench.adapter.prune({ keepFinishedMs: 300, keepFinished: 0, keepDeadMs: 0 }), 1);
      assert.deepEqual([await bench.adapter.get(old), (await bench.look(young)).state], [null, 'done']);
    }),
    {
      title: 'keeps the last notes of a running job, over a clean close',
      only: ['persistent'],
      async run(bench) {
        const id = await bench.add();
        const lease = await bench.take();
        for (let i = 1; i <= 3; i++) {
          await bench.adapter.extend([{ lease, progress: { percent: i, note: `step ${i}` }, log: [`line ${i}`] }], 60_000);
        }
        await bench.reopen();
        const job = await bench.look(id);
        assert.deepEqual([job.progress, job.log], [{ percent: 3, note: 'step 3' }, ['line 1', 'line 2', 'line 3']]);
      },
    },
    {
      title: 'keeps what a reader was shown although the call did not wait for the disk, over a crash (R14)',
      only: ['persistent'],
      async run(bench) {
        const [released, requeued] = await bench.addAll(2);
        const [one, two] = await bench.claim({ limit: 2 });
        await bench.adapter.release(one!);
        await bench.adapter.requeue(two!, 'hung');
        const shown = [await bench.look(released!), await bench.look(requeued!)];
        await bench.crash();
        assert.deepEqual([await bench.look(released!), await bench.look(requeued!)], shown);
      },
    },
    {
      title: 'can crash again and again without work in between: nothing moves',
      only: ['persistent'],
      async run(bench) {
        const before = await everyKind(bench);
        for (let i = 0; i < 8; i++) await bench.crash();
        assert.deepEqual(await bench.all(), before);
      },
    },
  ],
};
