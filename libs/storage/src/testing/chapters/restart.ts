import assert from 'node:assert/strict';
import { assertRising, refused } from '../expectations.js';
import type { KitChapter } from '../kit-case.js';
import { SeededRandom } from '../seeded-random.js';
import type { Workbench } from '../workbench.js';

const NO = { code: 'failed', message: 'no' } as const;
const AT_ONCE = { baseMs: 0, capMs: 0 };
const ROUNDS = 12;
const CLIENTS = 16;

/** What the clients of a storage know for sure: written after an answer, never before. */
interface Ledger {
  readonly enqueued: Set<string>;
  readonly acked: Map<string, string>;
}

/** Enqueues, claims and acks until the storage is gone; whatever then fails is nobody's fault. */
async function client(bench: Workbench, ledger: Ledger, name: string): Promise<void> {
  const { adapter } = bench;
  for (let i = 0; ; i++) {
    const jobs = [1, 2, 3].map((n) =>
      bench.newJob({ id: `${name}-${i}-${n}`, dedupeKey: `${name}-${i}` + n, backoff: AT_ONCE, maxRequeues: 1000 }),
    );
    await adapter.enqueue(jobs);
    for (const { id } of jobs) ledger.enqueued.add(id!);
    for (const job of await bench.claim({ limit: 2 }, adapter)) {
      const result = `${job.id} by ${name} in ${i}`;
      await adapter.ack(job, result);
      ledger.acked.set(job.id, result);
    }
  }
}

export const restart: KitChapter = {
  title: 'deliveries that a crash ends',
  cases: [
    {
      title: 'makes the active jobs of the dead boot ready at once: a requeue like any other, with the reason lease_expired',
      only: ['persistent', 'unshared'],
      async run(bench) {
        const ids = await bench.addAll(3);
        const jobs = await bench.claim({ limit: 3 });
        await bench.all();
        await bench.crash();
        for (const [i, id] of ids.entries()) {
          const job = await bench.look(id);
          assert.deepEqual([job.state, job.starts, job.requeues, job.attempts, job.error?.code], ['ready', 1, 1, 0, 'lease_expired']);
          assert.ok(job.epoch > jobs[i]!.epoch);
          await refused(bench.adapter.ack(jobs[i]!), 'lease_lost', 'a worker of the dead boot is refused');
          assert.deepEqual(await bench.adapter.extend([{ lease: jobs[i]! }], 1000), ['lost']);
        }
        assert.equal((await bench.claim({ limit: 10 })).length, 3);
      },
    },
    {
      title: 'takes the jobs of a boot that was closed with work in hand for requeued too',
      only: ['persistent', 'unshared'],
      async run(bench) {
        const id = await bench.add();
        const lease = await bench.take();
        await bench.reopen();
        const job = await bench.look(id);
        assert.deepEqual([job.state, job.requeues, job.error?.code], ['ready', 1, 'lease_expired']);
        await refused(bench.adapter.ack(lease), 'lease_lost');
      },
    },
    {
      title: 'puts jobs that a crash gave back behind those that were ready',
      only: ['persistent', 'unshared'],
      async run(bench) {
        const [first, second] = await bench.addAll(2);
        await bench.take();
        await bench.all();
        await bench.crash();
        assert.deepEqual(
          (await bench.claim({ limit: 10 })).map(({ id }) => id),
          [second, first],
        );
      },
    },
    {
      title: 'lets a job that was there at three crashes wait, and makes one dead that was there too often (R6)',
      only: ['persistent', 'unshared'],
      async run(bench) {
        const patient = await bench.add({ backoff: { baseMs: 1000, capMs: 10_000 } });
        const poison = await bench.add({ maxRequeues: 2 });
        for (let crashes = 1; crashes <= 3; crashes++) {
          assert.equal((await bench.claim({ limit: 2 })).length, 2);
          await bench.all();
          await bench.crash();
        }
        const waiting = await bench.look(patient);
        assert.deepEqual([waiting.state, waiting.requeues], ['delayed', 3]);
        const wait = waiting.runAt - waiting.error!.at;
        assert.ok(wait >= 4000 && wait <= 6000, `it waits 4000..6000 ms, not ${wait}`);
        const dead = await bench.look(poison);
        assert.deepEqual([dead.state, dead.requeues, dead.error?.code], ['dead', 3, 'lease_expired']);
        await bench.advance(3999);
        assert.deepEqual(await bench.claim({ limit: 2 }), []);
        await bench.advance(2001);
        assert.equal((await bench.take()).id, patient);
      },
    },
    {
      title: 'makes a running job whose cancellation was requested cancelled, at no charge',
      only: ['persistent', 'unshared'],
      async run(bench) {
        const id = await bench.add({ maxRequeues: 0 });
        const lease = await bench.take();
        await bench.adapter.cancel(id);
        await bench.crash();
        const job = await bench.look(id);
        assert.deepEqual([job.state, job.starts, job.requeues], ['cancelled', 1, 0]);
        await refused(bench.adapter.nack(lease, NO, { retryInMs: 0 }), 'lease_lost');
      },
    },
    {
      title: 'uses no epoch twice over many crashes, claims that a crash made undone included (R3)',
      only: ['persistent', 'unshared'],
      async run(bench) {
        const id = await bench.add({ maxRequeues: 1000, backoff: AT_ONCE });
        const epochs: number[] = [];
        for (let crashes = 0; crashes < ROUNDS; crashes++) {
          const lease = await bench.take();
          assert.equal(lease.id, id);
          epochs.push(lease.epoch);
          if (crashes % 3 === 1) await bench.adapter.release(lease);
          if (crashes % 3 === 2) await bench.adapter.requeue(lease, 'hung');
          await bench.crash();
          await refused(bench.adapter.nack(lease, NO, { dead: true }), 'lease_lost');
        }
        assertRising(epochs, 'epochs');
      },
    },
    {
      title: 'has a batch whole or not at all after a crash in the middle of its enqueue (R12)',
      only: ['persistent'],
      async run(bench) {
        const random = new SeededRandom(7);
        for (let round = 0; round < ROUNDS; round++) {
          const size = random.between(2, 300);
          const jobs = Array.from({ length: size }, (_, i) =>
            bench.newJob({ id: `r${round}-${i}`, payload: 'p'.repeat(200), queue: `r${round}` }),
          );
          let answered = false;
          void bench.adapter.enqueue(jobs).then(
            () => (answered = true),
            () => undefined,
          );
          for (let turn = random.between(0, 6); turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve));
          const known = answered;
          await bench.crash();
          const { length } = await bench.all({ queue: `r${round}` });
          assert.ok(
            length === size || (length === 0 && !known),
            `${length} of ${size} jobs are there; the enqueue was ${known ? '' : 'not '}answered`,
          );
        }
      },
    },
    {
      title: 'keeps every promise that was given when it dies under load, and is sound after it (A01)',
      only: ['persistent'],
      async run(bench) {
        const random = new SeededRandom(11);
        const ledger: Ledger = { enqueued: new Set(), acked: new Map() };
        for (let round = 0; round < ROUNDS; round++) {
          for (let i = 0; i < CLIENTS; i++) client(bench, ledger, `r${round}c${i}`).catch(() => undefined);
          for (let turn = random.between(1, 40); turn > 0 || ledger.acked.size === 0; turn--) {
            await new Promise((resolve) => setImmediate(resolve));
          }
          const enqueued = [...ledger.enqueued];
          const acked = [...ledger.acked];
          await bench.crash();
          const jobs = new Map((await bench.all()).map((job) => [job.id, job]));
          for (const id of enqueued) assert.ok(jobs.has(id), `round ${round}: the enqueue of ${id} was answered`);
          for (const [id, result] of acked) {
            const job = jobs.get(id);
            assert.deepEqual([job?.state, job?.result], ['done', result], `round ${round}: the ack of ${id} was answered`);
          }
          await bench.checkBooks();
        }
      },
    },
  ],
};
