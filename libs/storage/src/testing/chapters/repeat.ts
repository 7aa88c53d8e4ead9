import assert from 'node:assert/strict';
import type { JobError, Lease, StorageAdapter } from '../../contract/index.js';
import { refused } from '../expectations.js';
import type { KitCase, KitChapter } from '../kit-case.js';

const NO: JobError = { code: 'failed', message: 'no' };
type Settle = (adapter: StorageAdapter, lease: Lease) => Promise<void>;

/** Each settle, and calls that differ from it in one thing only. */
const CALLS: Readonly<Record<string, { readonly call: Settle; readonly others: readonly Settle[] }>> = {
  'an ack': {
    call: (adapter, lease) => adapter.ack(lease, 'result'),
    others: [(adapter, lease) => adapter.ack(lease, 'other result'), (adapter, lease) => adapter.ack(lease)],
  },
  'an ack without result': {
    call: (adapter, lease) => adapter.ack(lease),
    others: [(adapter, lease) => adapter.ack(lease, ''), (adapter, lease) => adapter.ack(lease, 'null')],
  },
  'a nack': {
    call: (adapter, lease) => adapter.nack(lease, NO, { retryInMs: 0 }),
    others: [
      (adapter, lease) => adapter.nack(lease, { ...NO, message: 'other' }, { retryInMs: 0 }),
      (adapter, lease) => adapter.nack(lease, { ...NO, code: 'timeout' }, { retryInMs: 0 }),
      (adapter, lease) => adapter.nack(lease, NO, { retryInMs: 1 }),
      (adapter, lease) => adapter.nack(lease, NO, { dead: true }),
    ],
  },
  'a nack for good': {
    call: (adapter, lease) => adapter.nack(lease, NO, { dead: true }),
    others: [(adapter, lease) => adapter.nack(lease, NO, { retryInMs: 0 })],
  },
  'a release': {
    call: (adapter, lease) => adapter.release(lease),
    others: [(adapter, lease) => adapter.release(lease, { inMs: 1 })],
  },
  'a release for later': {
    call: (adapter, lease) => adapter.release(lease, { inMs: 70_000 }),
    others: [(adapter, lease) => adapter.release(lease)],
  },
  'a requeue': {
    call: (adapter, lease) => adapter.requeue(lease, 'hung'),
    others: [(adapter, lease) => adapter.requeue(lease, 'lease_expired')],
  },
};

const verbs = Object.values(CALLS).map(({ call }) => call);

function repeatCase(what: string): KitCase {
  const { call, others } = CALLS[what]!;
  return {
    title: `takes ${what} that is repeated for success, and anything else said with that lease for lost (C15)`,
    async run(bench) {
      const id = await bench.add();
      const lease = await bench.take();
      await call(bench.adapter, lease);
      const after = await bench.look(id);
      await call(bench.adapter, lease);
      for (const other of [...others, ...verbs.filter((verb) => verb !== call)]) await refused(other(bench.adapter, lease), 'lease_lost');
      await call(bench.adapter, lease);
      assert.deepEqual(await bench.look(id), after, 'no repetition changed anything');
    },
  };
}

export const repeat: KitChapter = {
  title: 'a settle that is repeated (R4)',
  cases: [
    ...Object.keys(CALLS).map(repeatCase),
    {
      title: 'takes the same settle twice at the same instant for success, and acts once',
      async run(bench) {
        for (const call of verbs) {
          const id = await bench.add({ queue: 'twice', maxAttempts: 9 });
          const lease = await bench.take('twice');
          await Promise.all([call(bench.adapter, lease), call(bench.adapter, lease), call(bench.adapter, lease)]);
          const { starts, attempts, requeues, releases, state } = await bench.look(id);
          assert.equal(attempts + requeues + releases, state === 'done' ? 0 : 1, 'the delivery ended once');
          assert.equal(starts, 1);
          if (state === 'ready') await bench.adapter.cancel(id);
        }
      },
    },
    {
      title: 'still knows the last settle after the job became due: promotion is nothing that happened',
      async run(bench) {
        const id = await bench.add();
        const lease = await bench.take();
        await bench.adapter.nack(lease, NO, { retryInMs: 5 });
        await bench.advance(20);
        await bench.claim({ queue: 'another' });
        assert.equal((await bench.look(id)).state, 'ready');
        await bench.adapter.nack(lease, NO, { retryInMs: 5 });
        assert.equal((await bench.look(id)).attempts, 1);
      },
    },
    {
      title: 'forgets the last settle with the next claim',
      async run(bench) {
        for (const [what, { call }] of Object.entries(CALLS)) {
          const id = await bench.add({ queue: 'claimed' });
          const lease = await bench.take('claimed');
          await call(bench.adapter, lease);
          const [next] = await bench.claim({ queue: 'claimed' });
          if (next !== undefined) {
            await refused(call(bench.adapter, lease), 'lease_lost', `${what} is not repeated after the next claim`);
            assert.deepEqual(await bench.look(id), next);
          }
        }
      },
    },
    {
      title: 'forgets the last settle with a cancel and with a redrive',
      async run(bench) {
        await bench.add();
        const released = await bench.take();
        await bench.adapter.release(released);
        await bench.adapter.cancel(released.id);
        await refused(bench.adapter.release(released), 'lease_lost');
        await bench.add();
        const dead = await bench.take();
        await bench.adapter.nack(dead, NO, { dead: true });
        await bench.adapter.redrive(dead.id);
        await refused(bench.adapter.nack(dead, NO, { dead: true }), 'lease_lost');
      },
    },
    {
      title: 'keeps the last settle when a cancel is refused, because nothing happened',
      async run(bench) {
        const id = await bench.add();
        const lease = await bench.take();
        await bench.adapter.ack(lease, 'result');
        await refused(bench.adapter.cancel(id), 'already_finished');
        await refused(bench.adapter.redrive(id), 'not_dead');
        await bench.adapter.ack(lease, 'result');
      },
    },
    {
      title: 'takes no settle for the last one of an earlier delivery',
      async run(bench) {
        await bench.add();
        const first = await bench.take();
        await bench.adapter.release(first);
        const second = await bench.take();
        await bench.adapter.release(second);
        await refused(bench.adapter.release(first), 'lease_lost');
        await bench.adapter.release(second);
      },
    },
  ],
};
