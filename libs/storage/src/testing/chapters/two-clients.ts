import assert from 'node:assert/strict';
import { pending, refused, within } from '../expectations.js';
import type { KitChapter } from '../kit-case.js';
import type { StorageAdapter } from '../../contract/index.js';

const LONG_MS = 60_000;

function told(adapter: StorageAdapter): Promise<string> {
  return new Promise((resolve) => {
    adapter.subscribe((event) => event.type === 'cancel_requested' && resolve(`${event.lease.id}@${event.lease.epoch}`));
  });
}

export const twoClients: KitChapter = {
  title: 'two clients of one storage',
  cases: [
    {
      title: 'shows each the jobs of the other',
      only: ['shared'],
      async run(bench) {
        const other = await bench.second();
        const id = await bench.add({ payload: 'p' });
        assert.deepEqual(await other.get(id), await bench.look(id));
        assert.deepEqual(await other.counts(), await bench.adapter.counts());
        assert.deepEqual((await other.list()).jobs, (await bench.adapter.list()).jobs);
      },
    },
    {
      title: 'gives no job to both, and all to one of them',
      only: ['shared'],
      async run(bench) {
        const other = await bench.second();
        const ids = await bench.addAll(200);
        const claims = Array.from({ length: 40 }, (_, i) => bench.claim({ limit: 5 }, i % 2 === 0 ? bench.adapter : other));
        const claimed = (await Promise.all(claims)).flat().map(({ id }) => id);
        assert.deepEqual(claimed.sort(), [...ids].sort());
      },
    },
    {
      title: 'keeps the order between them',
      only: ['shared'],
      async run(bench) {
        const other = await bench.second();
        const ids = await bench.addAll(4);
        const order = [];
        for (const adapter of [bench.adapter, other, bench.adapter, other]) order.push((await bench.claim({}, adapter))[0]!.id);
        assert.deepEqual(order, ids);
      },
    },
    {
      title: 'wakes a claim that waits at one when the other enqueues or releases',
      only: ['shared'],
      async run(bench) {
        const other = await bench.second();
        const waiting = bench.claim({ waitMs: LONG_MS }, other);
        await pending(waiting, 'nothing is ready');
        const id = await bench.add();
        const [lease] = await within(waiting, 'a claim that is woken by the other client');
        assert.equal(lease?.id, id);
        const again = bench.claim({ waitMs: LONG_MS });
        await pending(again, 'nothing is ready');
        await other.release(lease);
        assert.equal((await within(again, 'a claim that is woken by a release'))[0]?.id, id);
      },
    },
    {
      title: 'makes one job of equal requests that meet at two clients',
      only: ['shared'],
      async run(bench) {
        const other = await bench.second();
        const job = bench.newJob({ dedupeKey: 'key', fingerprint: 'f' });
        const calls = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? bench.adapter : other).enqueue([job]));
        const outcomes = (await Promise.all(calls)).flat();
        assert.equal(new Set(outcomes.map(({ id }) => id)).size, 1);
        assert.equal(outcomes.filter(({ created }) => created).length, 1);
        await refused(other.enqueue([{ ...job, fingerprint: 'g' }]), 'conflict');
      },
    },
    {
      title: 'tells the one that runs a job when the other cancels it',
      only: ['shared'],
      async run(bench) {
        const other = await bench.second();
        const event = told(bench.adapter);
        const id = await bench.add();
        const lease = await bench.take();
        assert.equal((await other.cancel(id)).cancelRequested, true);
        assert.equal(await within(event, 'the holder of the lease is told'), `${id}@${lease.epoch}`);
        assert.deepEqual(await bench.adapter.extend([{ lease }], LONG_MS), ['cancel_requested']);
      },
    },
    {
      title: 'lets either take away what the other does not extend, and refuses the late one',
      only: ['shared'],
      async run(bench) {
        const other = await bench.second();
        const id = await bench.add();
        const [lease] = await bench.claim({ leaseMs: 100 });
        await bench.advance(300);
        assert.equal(await other.reap(10), 1);
        const [next] = await bench.claim({}, other);
        assert.deepEqual([next?.id, next?.requeues], [id, 1]);
        await refused(bench.adapter.ack(lease!), 'lease_lost');
        await other.ack(next!);
      },
    },
    {
      title: 'lets one go on when the other is closed',
      only: ['shared'],
      async run(bench) {
        const other = await bench.second();
        const id = await bench.add();
        await other.close();
        assert.equal((await bench.take()).id, id);
      },
    },
  ],
};
