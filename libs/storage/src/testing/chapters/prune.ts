import assert from 'node:assert/strict';
import { LIMITS, type PrunePolicy } from '../../contract/index.js';
import type { KitChapter } from '../kit-case.js';
import type { Workbench } from '../workbench.js';

const NO_LIMIT: PrunePolicy = { keepFinishedMs: 0, keepFinished: 0, keepDeadMs: 0 };
const NO = { code: 'failed', message: 'no' } as const;
/** Real time for a shared storage: short, but longer than a few calls take. */
const AGE_MS = 300;

async function finish(bench: Workbench, how: 'done' | 'dead' | 'cancelled'): Promise<string> {
  const id = await bench.add({ queue: how });
  if (how === 'cancelled') {
    await bench.adapter.cancel(id);
    return id;
  }
  const lease = await bench.take(how);
  await (how === 'done' ? bench.adapter.ack(lease) : bench.adapter.nack(lease, NO, { dead: true }));
  return id;
}

async function ids(bench: Workbench): Promise<string[]> {
  return (await bench.all()).map(({ id }) => id);
}

export const prune: KitChapter = {
  title: 'prune (R16)',
  cases: [
    {
      title: 'forgets nothing where no limit is given',
      async run(bench) {
        for (const how of ['done', 'dead', 'cancelled'] as const) await finish(bench, how);
        await bench.advance(AGE_MS);
        assert.equal(await bench.adapter.prune(NO_LIMIT), 0);
        assert.equal((await bench.all()).length, 3);
      },
    },
    {
      title: 'forgets done and cancelled jobs that are older than the limit, and keeps the dead',
      async run(bench) {
        const dead = await finish(bench, 'dead');
        const old = [await finish(bench, 'done'), await finish(bench, 'cancelled')];
        await bench.advance(2 * AGE_MS);
        const young = [await finish(bench, 'done'), await finish(bench, 'cancelled')];
        assert.equal(await bench.adapter.prune({ ...NO_LIMIT, keepFinishedMs: AGE_MS }), 2);
        assert.deepEqual(await ids(bench), [dead, ...young]);
        for (const id of old) assert.equal(await bench.adapter.get(id), null);
        assert.equal(await bench.adapter.prune({ ...NO_LIMIT, keepFinishedMs: AGE_MS }), 0);
      },
    },
    {
      title: 'forgets the oldest of too many done and cancelled jobs, and keeps the dead',
      async run(bench) {
        const dead = await finish(bench, 'dead');
        const finished = [];
        for (let i = 0; i < 6; i++) finished.push(await finish(bench, i % 2 === 0 ? 'done' : 'cancelled'));
        assert.equal(await bench.adapter.prune({ ...NO_LIMIT, keepFinished: 7 }), 0);
        assert.equal(await bench.adapter.prune({ ...NO_LIMIT, keepFinished: 6 }), 0);
        assert.equal(await bench.adapter.prune({ ...NO_LIMIT, keepFinished: 2 }), 4);
        assert.deepEqual(await ids(bench), [dead, ...finished.slice(4)]);
      },
    },
    {
      title: 'goes by the time a job was finished, not by the time it came',
      async run(bench) {
        const [first, second, third] = await bench.addAll(3);
        const [one, two, three] = await bench.claim({ limit: 3 });
        for (const lease of [three, one, two]) {
          await bench.adapter.ack(lease!);
          await bench.advance(2);
        }
        assert.equal(await bench.adapter.prune({ ...NO_LIMIT, keepFinished: 2 }), 1);
        assert.deepEqual(await ids(bench), [first, second]);
        assert.equal(await bench.adapter.get(third!), null);
      },
    },
    {
      title: 'forgets dead jobs only by their own limit, and no other with it',
      async run(bench) {
        const dead = await finish(bench, 'dead');
        const done = await finish(bench, 'done');
        await bench.advance(2 * AGE_MS);
        const young = await finish(bench, 'dead');
        assert.equal(await bench.adapter.prune({ ...NO_LIMIT, keepDeadMs: AGE_MS }), 1);
        assert.deepEqual(await ids(bench), [done, young]);
        assert.equal(await bench.adapter.get(dead), null);
      },
    },
    {
      title: 'counts the age of a dead job from its last death',
      async run(bench) {
        const id = await finish(bench, 'dead');
        await bench.advance(2 * AGE_MS);
        await bench.adapter.redrive(id);
        assert.equal(await bench.adapter.prune({ ...NO_LIMIT, keepDeadMs: AGE_MS }), 0, 'a redriven job is not dead');
        await bench.adapter.nack(await bench.take('dead'), NO, { dead: true });
        assert.equal(await bench.adapter.prune({ ...NO_LIMIT, keepDeadMs: AGE_MS }), 0);
        await bench.advance(2 * AGE_MS);
        assert.equal(await bench.adapter.prune({ ...NO_LIMIT, keepDeadMs: AGE_MS }), 1);
        assert.deepEqual(await ids(bench), []);
      },
    },
    {
      title: 'lets a job that died again after a redrive hide no older one, and counts it once',
      async run(bench) {
        const again = await finish(bench, 'dead');
        const older = await finish(bench, 'dead');
        await bench.advance(2 * AGE_MS);
        await bench.adapter.redrive(again);
        await bench.adapter.nack(await bench.take('dead'), NO, { dead: true });
        assert.equal(await bench.adapter.prune({ ...NO_LIMIT, keepDeadMs: AGE_MS }), 1);
        assert.deepEqual([await bench.adapter.get(older), await ids(bench)], [null, [again]]);
        await bench.advance(2 * AGE_MS);
        assert.equal(await bench.adapter.prune({ ...NO_LIMIT, keepDeadMs: AGE_MS }), 1);
        assert.equal((await bench.adapter.counts()).dead, 0);
      },
    },
    {
      title: 'never forgets a job that is not over, however old',
      async run(bench) {
        await bench.addAll(3, (i) => (i === 2 ? { delayMs: 100_000 } : {}));
        const active = await bench.take();
        await bench.adapter.cancel(active.id);
        await bench.advance(2 * AGE_MS);
        assert.equal(await bench.adapter.prune({ keepFinishedMs: 1, keepFinished: 1, keepDeadMs: 1 }), 0);
        assert.equal((await bench.all()).length, 3);
        await bench.adapter.release(active);
      },
    },
    {
      title: 'forgets at most 1,000 jobs a step and says how many, until nothing is left to forget (G16)',
      async run(bench) {
        await bench.addAll(2300);
        const jobs = await bench.claim({ limit: 2300 });
        await Promise.all(jobs.map((job) => bench.adapter.ack(job)));
        const steps = [];
        do steps.push(await bench.adapter.prune({ ...NO_LIMIT, keepFinished: 100 }));
        while (steps.at(-1) === LIMITS.prune);
        assert.deepEqual(steps, [1000, 1000, 200]);
        assert.equal((await bench.adapter.counts()).done, 100);
      },
    },
    {
      title: 'lets a forgotten job be forgotten: not listed, not cancelled, not acked, its id free',
      async run(bench) {
        const id = await finish(bench, 'done');
        await bench.advance(10);
        await bench.adapter.prune({ ...NO_LIMIT, keepFinishedMs: 1 });
        assert.deepEqual(await bench.adapter.list(), { jobs: [], nextCursor: null });
        const [outcome] = await bench.adapter.enqueue([bench.newJob({ id })]);
        assert.deepEqual([outcome!.created, (await bench.look(id)).starts], [true, 0]);
      },
    },
  ],
};
