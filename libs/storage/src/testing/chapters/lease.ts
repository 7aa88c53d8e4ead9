import assert from 'node:assert/strict';
import type { JobRecord, Lease, StorageAdapter } from '../../contract/index.js';
import { assertRising, refused } from '../expectations.js';
import type { KitCase, KitChapter } from '../kit-case.js';
import type { Workbench } from '../workbench.js';

const FAILED = { code: 'failed', message: 'no' } as const;

const SETTLES: Readonly<Record<string, (adapter: StorageAdapter, lease: Lease) => Promise<void>>> = {
  ack: (adapter, lease) => adapter.ack(lease, 'late'),
  nack: (adapter, lease) => adapter.nack(lease, { code: 'crashed', message: 'late' }, { retryInMs: 7 }),
  release: (adapter, lease) => adapter.release(lease, { inMs: 7 }),
  requeue: (adapter, lease) => adapter.requeue(lease, 'lease_expired'),
};

/** Ways in which a lease ends; what the late worker then says is none of these very calls. */
const ENDS: Readonly<Record<string, (bench: Workbench, lease: JobRecord) => Promise<unknown>>> = {
  'was acked': ({ adapter }, lease) => adapter.ack(lease, 'in time'),
  'was nacked': ({ adapter }, lease) => adapter.nack(lease, FAILED, { retryInMs: 0 }),
  'was nacked for good': ({ adapter }, lease) => adapter.nack(lease, FAILED, { dead: true }),
  'was released': ({ adapter }, lease) => adapter.release(lease),
  'was released for later': ({ adapter }, lease) => adapter.release(lease, { inMs: 50_000 }),
  'was requeued': ({ adapter }, lease) => adapter.requeue(lease, 'hung'),
  'was requeued and claimed again': (bench, lease) => bench.adapter.requeue(lease, 'hung').then(() => bench.take()),
  'was released and claimed again': (bench, lease) => bench.adapter.release(lease).then(() => bench.take()),
  'was cancelled and then acked': ({ adapter }, lease) => adapter.cancel(lease.id).then(() => adapter.ack(lease).catch(() => undefined)),
  'was nacked for good and redriven': ({ adapter }, lease) =>
    adapter.nack(lease, FAILED, { dead: true }).then(() => adapter.redrive(lease.id)),
  'was acked and pruned': async (bench, lease) => {
    await bench.adapter.ack(lease);
    await bench.advance(10);
    await bench.adapter.prune({ keepFinishedMs: 1, keepFinished: 0, keepDeadMs: 0 });
  },
};

async function refuseAllSettles(bench: Workbench, lease: Lease, why: string): Promise<void> {
  const before = await bench.adapter.get(lease.id);
  for (const [verb, settle] of Object.entries(SETTLES))
    await refused(settle(bench.adapter, lease), 'lease_lost', `${verb} is refused: ${why}`);
  const progress = { percent: 50, note: 'late' };
  assert.deepEqual(await bench.adapter.extend([{ lease, progress, log: ['late'] }], 1000), ['lost'], `extend says lost: ${why}`);
  assert.deepEqual(await bench.adapter.get(lease.id), before, `the refusals changed nothing: ${why}`);
}

const stale: KitCase[] = Object.entries(ENDS).map(([how, end]) => ({
  title: `refuses every call of a worker whose lease ${how} (C01, C02)`,
  async run(bench) {
    await bench.add();
    const lease = await bench.take();
    await end(bench, lease);
    await refuseAllSettles(bench, { id: lease.id, epoch: lease.epoch }, `the lease ${how}`);
  },
}));

export const lease: KitChapter = {
  title: 'leases and epochs (R3)',
  cases: [
    ...stale,
    {
      title: 'refuses an epoch that was never given out, and a job that nobody knows or holds',
      async run(bench) {
        const waiting = await bench.add();
        const held = await bench.take();
        const delayed = await bench.add({ delayMs: 100_000 });
        for (const id of [waiting, delayed, 'nobody']) {
          for (const epoch of [0, held.epoch - 1, held.epoch + 1, Number.MAX_SAFE_INTEGER].filter((e) => e >= 0)) {
            await refuseAllSettles(bench, { id, epoch }, `${id} is not held with epoch ${epoch}`);
          }
        }
        await bench.adapter.ack(held);
      },
    },
    {
      title: 'refuses the epoch of another job',
      async run(bench) {
        await bench.addAll(2);
        const first = await bench.take();
        await bench.adapter.release(first);
        const [second, again] = await bench.claim({ limit: 2 });
        assert.notEqual(again!.epoch, first.epoch);
        await bench.adapter.ack(second!);
        await refuseAllSettles(bench, { id: first.id, epoch: first.epoch }, 'another job had this epoch too');
      },
    },
    {
      title: 'raises the epoch with every claim and every requeue, over everything that can happen to a job',
      async run(bench) {
        const id = await bench.add({ maxAttempts: 3, backoff: { baseMs: 0, capMs: 0 } });
        const epochs: number[] = [];
        const take = async (): Promise<JobRecord> => {
          const job = await bench.take();
          epochs.push(job.epoch);
          return job;
        };
        for (let round = 0; round < 2; round++) {
          await bench.adapter.release(await take());
          await bench.adapter.requeue(await take(), 'hung');
          epochs.push((await bench.look(id)).epoch);
          await bench.adapter.nack(await take(), FAILED, { retryInMs: 3 });
          await bench.advance(10);
          await bench.adapter.requeue(await take(), 'lease_expired');
          epochs.push((await bench.look(id)).epoch);
          await bench.adapter.nack(await take(), FAILED, { dead: true });
          assert.equal((await bench.adapter.redrive(id)).epoch, epochs.at(-1), 'a redrive keeps the epoch');
        }
        await bench.adapter.ack(await take());
        assertRising(epochs, 'epochs');
        assert.ok(epochs.every(Number.isSafeInteger));
      },
    },
    {
      title: 'keeps the epoch through a nack, a release and an ack',
      async run(bench) {
        const id = await bench.add();
        const endings = [
          (lease: Lease) => bench.adapter.nack(lease, FAILED, { retryInMs: 0 }),
          (lease: Lease) => bench.adapter.release(lease),
          (lease: Lease) => bench.adapter.ack(lease),
        ];
        for (const end of endings) {
          const { epoch } = await bench.take();
          await end({ id, epoch });
          assert.equal((await bench.look(id)).epoch, epoch);
        }
      },
    },
    {
      title: 'lets one of ack and nack at the same instant win and tells the other (D16)',
      async run(bench) {
        for (const ackFirst of [true, false]) {
          const id = await bench.add();
          const held = await bench.take();
          const ack = (): Promise<void> => bench.adapter.ack(held);
          const nack = (): Promise<void> => bench.adapter.nack(held, FAILED, { dead: true });
          const calls = ackFirst ? [ack(), nack()] : [nack(), ack()];
          const results = await Promise.allSettled(calls);
          const won = results.findIndex(({ status }) => status === 'fulfilled');
          assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
          await refused(calls[1 - won]!, 'lease_lost');
          assert.equal((await bench.look(id)).state, (won === 0) === ackFirst ? 'done' : 'dead', 'the job is what the winner made it');
        }
      },
    },
    {
      title: 'lets one of a crowd of different settles win',
      async run(bench) {
        for (let round = 0; round < 10; round++) {
          const id = await bench.add({ backoff: { baseMs: 0, capMs: 0 } });
          const held = (await bench.claim({ limit: 10 })).find((job) => job.id === id)!;
          const calls = Object.values(SETTLES).flatMap((settle) => [settle(bench.adapter, held)]);
          const results = await Promise.allSettled(calls);
          assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
          const { attempts, requeues, releases, starts } = await bench.look(id);
          assert.ok(starts === 1 && attempts + requeues + releases <= 1, 'one delivery has one end');
        }
      },
    },
    {
      title: 'compares the epoch, not only the state: a late verdict spares the next delivery (C04)',
      async run(bench) {
        const id = await bench.add();
        const first = await bench.take();
        await bench.adapter.nack(first, FAILED, { retryInMs: 0 });
        const second = await bench.take();
        await refused(bench.adapter.requeue(first, 'hung'), 'lease_lost');
        assert.deepEqual(await bench.look(id), second, 'the second delivery goes on');
        await bench.adapter.ack(second);
      },
    },
  ],
};
