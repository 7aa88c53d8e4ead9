import assert from 'node:assert/strict';
import type { JobRecord } from '../../contract/index.js';
import type { KitChapter } from '../kit-case.js';
import type { Workbench } from '../workbench.js';

const NO = { code: 'failed', message: 'no' } as const;
const AT_ONCE = { baseMs: 0, capMs: 0 };

/** Takes the job away `count` times and resolves with what it looks like after each time. */
async function requeueTimes(bench: Workbench, count: number, waitMs: number): Promise<JobRecord[]> {
  const seen: JobRecord[] = [];
  for (let i = 0; i < count; i++) {
    const lease = await bench.take();
    await bench.adapter.requeue(lease, 'hung');
    seen.push(await bench.look(lease.id));
    await bench.advance(waitMs);
  }
  return seen;
}

export const limits: KitChapter = {
  title: 'attempts, requeues and backoff (R5, R6)',
  cases: [
    {
      title: 'makes a job dead with its last attempt, although a retry was asked for',
      async run(bench) {
        const id = await bench.add({ maxAttempts: 3 });
        for (let attempts = 1; attempts <= 3; attempts++) {
          await bench.adapter.nack(await bench.take(), { code: 'failed', message: `no ${attempts}` }, { retryInMs: 0 });
          const job = await bench.look(id);
          assert.deepEqual([job.state, job.attempts], [attempts < 3 ? 'ready' : 'dead', attempts]);
          assert.equal(job.error?.message, `no ${attempts}`);
        }
        assert.ok((await bench.look(id)).finishedAt !== null);
        assert.deepEqual(await bench.claim(), []);
      },
    },
    {
      title: 'gives a job one attempt where one was asked for',
      async run(bench) {
        const id = await bench.add({ maxAttempts: 1 });
        await bench.adapter.nack(await bench.take(), NO, { retryInMs: 1000 });
        assert.equal((await bench.look(id)).state, 'dead');
      },
    },
    {
      title: 'gives up at the fifth attempt where nothing was asked for',
      async run(bench) {
        const id = await bench.add();
        for (let i = 0; i < 4; i++) await bench.adapter.nack(await bench.take(), NO, { retryInMs: 0 });
        assert.equal((await bench.look(id)).state, 'ready');
        await bench.adapter.nack(await bench.take(), NO, { retryInMs: 0 });
        assert.equal((await bench.look(id)).state, 'dead');
      },
    },
    {
      title: 'makes a job dead at once where the nack says so, and charges the attempt',
      async run(bench) {
        const id = await bench.add({ maxAttempts: 10 });
        await bench.adapter.nack(await bench.take(), { code: 'discarded', message: 'useless' }, { dead: true });
        const job = await bench.look(id);
        assert.deepEqual([job.state, job.attempts, job.error?.code], ['dead', 1, 'discarded']);
      },
    },
    {
      title: 'does not count releases and requeues as attempts',
      async run(bench) {
        const id = await bench.add({ maxAttempts: 2, backoff: AT_ONCE });
        for (let i = 0; i < 5; i++) {
          await bench.adapter.release(await bench.take());
          await bench.adapter.requeue(await bench.take(), 'hung');
        }
        await bench.adapter.nack(await bench.take(), NO, { retryInMs: 0 });
        assert.equal((await bench.look(id)).state, 'ready', 'this was the first attempt of two');
      },
    },
    {
      title: 'makes a poison job dead when it was taken away more often than maxRequeues, with the reason',
      async run(bench) {
        await bench.add({ maxRequeues: 4, backoff: AT_ONCE });
        const seen = await requeueTimes(bench, 5, 0);
        assert.deepEqual(
          seen.map(({ state }) => state),
          ['ready', 'ready', 'ready', 'ready', 'dead'],
        );
        const last = seen[4]!;
        assert.deepEqual([last.requeues, last.attempts, last.error?.code], [5, 0, 'hung']);
        assert.ok(last.finishedAt !== null);
        assert.deepEqual(await bench.claim(), []);
      },
    },
    {
      title: 'makes a job that must not be taken away dead the first time',
      async run(bench) {
        const id = await bench.add({ maxRequeues: 0 });
        await bench.adapter.requeue(await bench.take(), 'lease_expired');
        const job = await bench.look(id);
        assert.deepEqual([job.state, job.requeues, job.error?.code], ['dead', 1, 'lease_expired']);
      },
    },
    {
      title: 'gives up at the eleventh requeue where nothing was asked for',
      async run(bench) {
        await bench.add({ backoff: AT_ONCE });
        const states = (await requeueTimes(bench, 11, 0)).map(({ state }) => state);
        assert.deepEqual(states, [...new Array<string>(10).fill('ready'), 'dead']);
      },
    },
    {
      title: 'lets a job wait from its third requeue on: min(cap, base * 2^(n-1)) plus at most half of it',
      async run(bench) {
        await bench.add({ backoff: { baseMs: 4, capMs: 40 } });
        const seen = await requeueTimes(bench, 7, 100);
        const waits = seen.map(({ runAt, error }) => runAt - error!.at);
        assert.deepEqual(
          seen.map(({ state }) => state),
          ['ready', 'ready', ...new Array<string>(5).fill('delayed')],
        );
        for (const [i, low] of [16, 32, 40, 40, 40].entries()) {
          const wait = waits[i + 2]!;
          assert.ok(wait >= low && wait <= Math.ceil(low * 1.5), `requeue ${i + 3} waits ${low}..${low * 1.5} ms, not ${wait}`);
        }
      },
    },
    {
      title: 'does not hand out a job that waits for its backoff, and does after it',
      async run(bench) {
        await bench.add({ backoff: { baseMs: 100, capMs: 500 } });
        await requeueTimes(bench, 3, 0).then((seen) => assert.equal(seen[2]!.state, 'delayed'));
        await bench.advance(200);
        assert.deepEqual(await bench.claim(), [], 'the third requeue waits 400 ms at least');
        await bench.advance(450);
        assert.equal((await bench.take()).starts, 4);
      },
    },
    {
      title: 'spreads jobs that were taken away together, also at the cap (D10)',
      async run(bench) {
        await bench.addAll(40, () => ({ backoff: { baseMs: 1000, capMs: 1000 } }));
        const waits = new Set<number>();
        for (let n = 1; n <= 3; n++) {
          const jobs = await bench.claim({ limit: 100 });
          assert.equal(jobs.length, 40);
          await Promise.all(jobs.map((job) => bench.adapter.requeue(job, 'hung')));
          if (n === 3) for (const { id } of jobs) waits.add(await bench.look(id).then(({ runAt, error }) => runAt - error!.at));
        }
        assert.ok(waits.size > 5, `40 jobs come back at ${waits.size} different times`);
      },
    },
  ],
};
