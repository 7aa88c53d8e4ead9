import assert from 'node:assert/strict';
import type { KitChapter } from '../kit-case.js';
import type { Workbench } from '../workbench.js';

async function order(bench: Workbench, limit = 100): Promise<string[]> {
  return (await bench.claim({ limit })).map(({ id }) => id);
}

export const claim: KitChapter = {
  title: 'claim',
  cases: [
    {
      title: 'hands out a job once: active, with a new epoch, one start, and all that was enqueued',
      async run(bench) {
        const id = await bench.add({ payload: 'p', priority: 7 });
        const before = await bench.look(id);
        const [job, ...others] = await bench.claim({ limit: 10 });
        assert.deepEqual(others, []);
        assert.ok(job!.epoch > before.epoch);
        assert.ok(job!.startedAt !== null && job!.startedAt >= job!.createdAt);
        assert.deepEqual(job, { ...before, state: 'active', epoch: job!.epoch, starts: 1, startedAt: job!.startedAt });
        assert.deepEqual(await bench.look(id), job, 'get shows what claim gave');
        assert.deepEqual(await bench.claim({ limit: 10 }), []);
      },
    },
    {
      title: 'gives at most as many jobs as were asked for, and the rest to the next',
      async run(bench) {
        const ids = await bench.addAll(7);
        assert.deepEqual(
          [await order(bench, 3), await order(bench, 3), await order(bench, 3)],
          [ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)],
        );
      },
    },
    {
      title: 'resolves with nothing at once when nothing is ready and nobody wants to wait',
      async run(bench) {
        assert.deepEqual(await bench.claim({ waitMs: 0 }), []);
        assert.deepEqual(await bench.claim(), []);
      },
    },
    {
      title: 'takes from its own queue only',
      async run(bench) {
        const elsewhere = await bench.add();
        const queues = Array.from({ length: 30 }, (_, i) => `queue-${i}`);
        const ids = await bench.addAll(90, (i) => ({ queue: queues[i % 30]! }));
        assert.deepEqual(await bench.claim({ queue: 'queue-30', limit: 100 }), []);
        assert.deepEqual(await bench.claim({ queue: 'QUEUE-1', limit: 100 }), []);
        for (const [i, queue] of queues.entries()) {
          const claimed = (await bench.claim({ queue, limit: 100 })).map(({ id }) => id);
          assert.deepEqual(claimed, [ids[i], ids[i + 30], ids[i + 60]]);
        }
        assert.equal((await bench.take()).id, elsewhere);
      },
    },
    {
      title: 'goes first in, first out within a priority, over calls and batches',
      async run(bench) {
        const ids = [await bench.add(), ...(await bench.addAll(20)), await bench.add({ id: '0-first-by-id' }), ...(await bench.addAll(20))];
        const claimed = [...(await order(bench, 1)), ...(await order(bench, 7)), ...(await order(bench, 100))];
        assert.deepEqual(claimed, ids);
      },
    },
    {
      title: 'is strict about priorities: 9 first, 5 by default, 0 last (R10)',
      async run(bench) {
        const priorities = [3, 0, undefined, 9, 5, 1, 9, 8, 0, 6, 2, 4, 7];
        const ids = await bench.addAll(priorities.length, (i) => ({ ...(priorities[i] !== undefined && { priority: priorities[i] }) }));
        const expected = ids.map((id, i) => ({ id, priority: priorities[i] ?? 5 })).sort((a, b) => b.priority - a.priority);
        assert.deepEqual(
          await order(bench),
          expected.map(({ id }) => id),
        );
      },
    },
    {
      title: 'does not age a low priority: what comes later and is higher goes first',
      async run(bench) {
        const low = await bench.add({ priority: 4 });
        for (let i = 0; i < 5; i++) {
          const high = await bench.add();
          assert.equal((await bench.take()).id, high);
        }
        assert.equal((await bench.take()).id, low);
      },
    },
    {
      title: 'puts a job that becomes ready again at the end of its class, whichever way it came back (R10)',
      async run(bench) {
        const back: Record<string, (lease: { id: string; epoch: number }) => Promise<unknown>> = {
          released: (lease) => bench.adapter.release(lease),
          requeued: (lease) => bench.adapter.requeue(lease, 'hung'),
          retried: (lease) => bench.adapter.nack(lease, { code: 'failed', message: 'no' }, { retryInMs: 0 }),
          redriven: (lease) =>
            bench.adapter.nack(lease, { code: 'failed', message: 'no' }, { dead: true }).then(() => bench.adapter.redrive(lease.id)),
          'due again': (lease) => bench.adapter.release(lease, { inMs: 5 }).then(() => bench.advance(10)),
        };
        for (const [how, giveBack] of Object.entries(back)) {
          const [first, ...waiting] = await bench.addAll(3, () => ({ queue: 'again' }));
          const high = await bench.add({ queue: 'again', priority: 6 });
          await bench.claim({ queue: 'again', limit: 1 });
          await giveBack(await bench.take('again'));
          const rest = (await bench.claim({ queue: 'again', limit: 10 })).map(({ id }) => id);
          assert.ok(!rest.includes(high));
          assert.deepEqual(rest, [...waiting, first], `a job that is ${how} joins the end`);
        }
      },
    },
    {
      title: 'keeps a job that comes back in its own priority',
      async run(bench) {
        const high = await bench.add({ priority: 9 });
        const lows = await bench.addAll(2);
        await bench.adapter.release(await bench.take());
        assert.deepEqual(await order(bench), [high, ...lows]);
      },
    },
    {
      title: 'gives no job to two of 50 claimers at the same instant, and none to nobody',
      async run(bench) {
        const ids = await bench.addAll(120);
        const claims = await Promise.all(Array.from({ length: 50 }, () => bench.claim({ limit: 3 })));
        const claimed = claims.flat().map(({ id }) => id);
        assert.equal(claimed.length, 120, 'every job is claimed, once');
        assert.deepEqual([...claimed].sort(), [...ids].sort());
      },
    },
    {
      title: 'gives every job to exactly one of the claimers that work while jobs come in',
      async run(bench) {
        const seen: string[] = [];
        const worker = async (): Promise<void> => {
          for (let job = (await bench.claim())[0]; job !== undefined; job = (await bench.claim({ waitMs: 1 }).catch(() => []))[0]) {
            seen.push(job.id);
            await bench.adapter.ack(job);
          }
        };
        const first = await bench.addAll(40);
        const workers = Array.from({ length: 8 }, worker);
        const later = (await Promise.all(Array.from({ length: 10 }, () => bench.addAll(4)))).flat();
        await bench.during(Promise.all(workers), 100, 'the workers end');
        await worker();
        assert.deepEqual(seen.sort(), [...first, ...later].sort());
        assert.equal((await bench.adapter.counts()).done, 80);
      },
    },
    {
      title: 'does not hand out a cancelled job, wherever it stood',
      async run(bench) {
        const ids = await bench.addAll(200);
        for (const [i, id] of ids.entries()) if (i % 3 !== 1) await bench.adapter.cancel(id);
        assert.deepEqual(
          await order(bench, 200),
          ids.filter((_, i) => i % 3 === 1),
        );
      },
    },
  ],
};
