import assert from 'node:assert/strict';
import { isJobImporter, type ImportOutcome, type JobState, type MovedJob } from '../../contract/index.js';
import { refused, refusedField } from '../expectations.js';
import type { KitChapter } from '../kit-case.js';
import type { Workbench } from '../workbench.js';

const HOUR_MS = 3_600_000;
/** Above any clock's, so that it can only come from the job or the floor. */
const HIGH_EPOCH = 2 ** 52;
/** Too long for any place that short texts have, with characters of two, three and four bytes. */
const LONG_TEXT = 'é€🙂 '.repeat(500);

/** A job that waits and was never delivered, made an hour ago. */
async function movedJob(bench: Workbench, fields: Partial<MovedJob> & { readonly id: string }): Promise<MovedJob> {
  const createdAt = (await now(bench)) - HOUR_MS;
  return {
    epoch: 0,
    queue: 'default',
    type: 'kit',
    payload: '{}',
    state: 'ready',
    priority: 5,
    dedupeKey: null,
    starts: 0,
    attempts: 0,
    maxAttempts: 5,
    requeues: 0,
    maxRequeues: 10,
    releases: 0,
    timeoutMs: 0,
    backoff: { baseMs: 10, capMs: 60_000 },
    cancelRequested: false,
    createdAt,
    runAt: createdAt,
    startedAt: null,
    finishedAt: null,
    progress: null,
    log: [],
    result: null,
    error: null,
    fingerprint: null,
    delayMs: null,
    finishedForMs: null,
    ...fields,
  };
}

/** The wall clock of the storage: it creates a job, which stays in a queue of its own. */
async function now(bench: Workbench): Promise<number> {
  const { createdAt } = await bench.look(await bench.add({ queue: 'clock' }));
  return createdAt;
}

/** Jobs in each state that can be moved, with as much history as it can have. */
async function pastLives(bench: Workbench): Promise<MovedJob[]> {
  const at = await now(bench);
  const delivered = { epoch: 1_000_000, starts: 3, attempts: 1, requeues: 1, releases: 1, startedAt: at - 5000 };
  const told = { progress: { percent: 0, note: LONG_TEXT }, log: ['one', LONG_TEXT.slice(0, 500)] };
  const failed = { error: { code: 'timeout', message: LONG_TEXT.slice(0, 2000), at: at - 4000 } } as const;
  const ended = { finishedAt: at - 3000, finishedForMs: 3000 };
  return Promise.all([
    movedJob(bench, { id: 'fresh', payload: LONG_TEXT, dedupeKey: 'key-é', fingerprint: LONG_TEXT, priority: 9, timeoutMs: 7 }),
    movedJob(bench, { id: 'tried', ...delivered, ...told, ...failed, queue: 'q'.repeat(64), type: 't'.repeat(128), runAt: at - 2000 }),
    movedJob(bench, { id: 'instant', state: 'delayed', runAt: at + HOUR_MS, dedupeKey: 'another', backoff: { baseMs: 1, capMs: 2 } }),
    movedJob(bench, { id: 'done', state: 'done', ...delivered, ...ended, starts: 4, result: LONG_TEXT }),
    movedJob(bench, { id: 'empty-result', state: 'done', ...delivered, ...ended, starts: 4, result: '', payload: '' }),
    movedJob(bench, { id: 'dead', state: 'dead', ...delivered, ...ended, ...failed, attempts: 1, maxAttempts: 1 }),
    movedJob(bench, { id: 'dropped', state: 'cancelled', ...ended }),
    movedJob(bench, { id: 'stopped', state: 'cancelled', ...delivered, ...ended, starts: 4, cancelRequested: true }),
  ]);
}

async function bringIn(bench: Workbench, jobs: readonly MovedJob[], epochFloor = 0): Promise<ImportOutcome[]> {
  const { adapter } = bench;
  assert.ok(isJobImporter(adapter));
  return adapter.importJobs(jobs, epochFloor);
}

/** The record that readers are to see of it. */
function shown({ fingerprint: _1, delayMs: _2, finishedForMs: _3, ...record }: MovedJob): object {
  return record;
}

async function assertShown(bench: Workbench, jobs: readonly MovedJob[]): Promise<void> {
  for (const job of jobs) assert.deepEqual(await bench.look(job.id), shown(job));
}

async function claimed(bench: Workbench): Promise<string[]> {
  return (await bench.claim({ limit: 100 })).map(({ id }) => id);
}

export const moving: KitChapter = {
  title: 'jobs that come from another storage',
  cases: [
    {
      title: 'are shown as they were, counted under their state, and listed by id',
      only: ['importer'],
      async run(bench) {
        const jobs = await pastLives(bench);
        const before = await bench.adapter.counts();
        assert.deepEqual(
          await bringIn(bench, jobs),
          jobs.map(() => 'imported'),
        );
        await assertShown(bench, jobs);
        const of = (state: JobState): number => before[state] + jobs.filter((job) => job.state === state).length;
        const counts = { delayed: of('delayed'), ready: of('ready'), active: 0, done: of('done'), dead: of('dead') };
        assert.deepEqual(await bench.adapter.counts(), { ...counts, cancelled: of('cancelled') });
        const ids = (await bench.all()).map(({ id }) => id).filter((id) => jobs.some((job) => job.id === id));
        assert.deepEqual(ids, jobs.map(({ id }) => id).sort());
      },
    },
    {
      title: 'are as they were after a crash too, and so is their order',
      only: ['importer', 'persistent'],
      async run(bench) {
        const jobs = await pastLives(bench);
        const row = await Promise.all(['b', 'a', 'd', 'c'].map((id) => movedJob(bench, { id })));
        await bringIn(bench, [...jobs, ...row]);
        await bench.crash();
        await assertShown(bench, [...jobs, ...row]);
        assert.deepEqual(await claimed(bench), ['fresh', 'b', 'a', 'd', 'c']);
      },
    },
    {
      title: 'are handed out by priority, in the given order, behind what was ready before',
      only: ['importer'],
      async run(bench) {
        const first = await bench.add();
        const ids = ['z', 'a', 'm', 'b'];
        await bringIn(bench, await Promise.all(ids.map((id) => movedJob(bench, { id, priority: id === 'b' ? 9 : 5 }))));
        const last = await bench.add();
        assert.deepEqual(await claimed(bench), ['b', first, 'z', 'a', 'm', last]);
      },
    },
    {
      title: 'reach who waits for a job',
      only: ['importer'],
      async run(bench) {
        const job = await movedJob(bench, { id: 'awaited' });
        const waiting = bench.claim({ waitMs: 2000 });
        await bringIn(bench, [job]);
        assert.deepEqual(
          (await bench.during(waiting, 2000, 'the claim')).map(({ id }) => id),
          ['awaited'],
        );
      },
    },
    {
      title: 'stay as they are when they come again, whatever has become of them',
      only: ['importer'],
      async run(bench) {
        const jobs = await Promise.all(['one', 'two'].map((id) => movedJob(bench, { id, dedupeKey: id })));
        await bringIn(bench, jobs);
        await bench.adapter.ack(await bench.take(), 'mine');
        const [one, two] = [await bench.look('one'), await bench.look('two')];
        const three = await movedJob(bench, { id: 'three' });
        assert.deepEqual(await bringIn(bench, [...jobs, three]), ['present', 'present', 'imported']);
        assert.deepEqual([await bench.look('one'), await bench.look('two')], [one, two]);
        assert.deepEqual(await claimed(bench), ['two', 'three']);
      },
    },
    {
      title: 'are told from other jobs that have their id or their dedupe key, which stay what they are',
      only: ['importer'],
      async run(bench) {
        await bench.add({ id: 'same' });
        await bench.add({ id: 'other', dedupeKey: 'key' });
        const before = await bench.all();
        const jobs = [await movedJob(bench, { id: 'same' }), await movedJob(bench, { id: 'new', dedupeKey: 'key' })];
        assert.deepEqual(await bringIn(bench, jobs), ['taken', 'taken']);
        assert.equal(await bench.adapter.get('new'), null);
        assert.deepEqual(
          (await bench.all()).filter(({ queue }) => queue !== 'clock'),
          before,
        );
      },
    },
    {
      title: 'are still the answer to their request when it is repeated, and to no other',
      only: ['importer'],
      async run(bench) {
        await bringIn(bench, [await movedJob(bench, { id: 'asked', dedupeKey: 'key', fingerprint: LONG_TEXT })]);
        const again = (fingerprint: string) => bench.adapter.enqueue([bench.newJob({ dedupeKey: 'key', fingerprint })]);
        const [outcome] = await again(LONG_TEXT);
        assert.deepEqual([outcome!.id, outcome!.created], ['asked', false]);
        await refused(again(`${LONG_TEXT}!`), 'conflict');
      },
    },
    {
      title: 'get epochs above the one they had (R3)',
      only: ['importer'],
      async run(bench) {
        const past = { epoch: HIGH_EPOCH, starts: 1, releases: 1, startedAt: 1 };
        await bringIn(bench, [await movedJob(bench, { id: 'old', ...past })]);
        const { epoch } = await bench.take();
        assert.ok(epoch > HIGH_EPOCH);
        await refused(bench.adapter.ack({ id: 'old', epoch: HIGH_EPOCH }), 'lease_lost', 'who had it there is refused here');
      },
    },
    {
      title: 'raise the floor for what comes later, for a job may take the id of one that was forgotten there',
      only: ['importer'],
      async run(bench) {
        await bringIn(bench, [], HIGH_EPOCH);
        const id = await bench.add();
        assert.ok((await bench.take()).epoch >= HIGH_EPOCH);
        if (!bench.capabilities.persistent) return;
        const later = await bench.add();
        await bench.all();
        await bench.crash();
        const jobs = await bench.claim({ limit: 2 });
        assert.ok(jobs.some((job) => job.id === later || job.id === id));
        for (const { epoch } of jobs) assert.ok(epoch >= HIGH_EPOCH);
      },
    },
    {
      title: 'are due when they were, in due order; the rest of a duration is never longer than the whole (R9)',
      only: ['importer'],
      async run(bench) {
        const at = await now(bench);
        const delayed = (id: string, runAt: number, delayMs: number | null) => movedJob(bench, { id, state: 'delayed', runAt, delayMs });
        await bringIn(
          bench,
          [
            await delayed('later', at + HOUR_MS, null),
            await delayed('overdue', at - 10, null),
            await delayed('short', at + HOUR_MS, 200),
            await delayed('most overdue', at - 20, 1000),
          ].map((job) => ({ ...job, id: job.id.replace(' ', '-') })),
        );
        const due = await claimed(bench);
        assert.deepEqual([...due].sort(), ['most-overdue', 'overdue']);
        assert.equal((await bench.adapter.counts()).delayed, 2);
        assert.deepEqual(
          (await bench.during(bench.claim({ waitMs: 2000, limit: 2 }), 2000, 'the claim')).map(({ id }) => id),
          ['short'],
        );
      },
    },
    {
      title: 'are as old as they were, and the oldest are forgotten first (R16)',
      only: ['importer'],
      async run(bench) {
        const at = await now(bench);
        const done = (id: string, ageMs: number) =>
          movedJob(bench, { id, state: 'done', starts: 1, epoch: 1, startedAt: at - HOUR_MS, finishedAt: at - 1, finishedForMs: ageMs });
        await bringIn(bench, await Promise.all([done('c', 3 * HOUR_MS), done('a', 2 * HOUR_MS), done('b', HOUR_MS)]));
        const left = async () => (await bench.all()).filter(({ queue }) => queue !== 'clock').map(({ id }) => id);
        await bench.adapter.prune({ keepFinishedMs: 2.5 * HOUR_MS, keepFinished: 0, keepDeadMs: 0 });
        assert.deepEqual(await left(), ['a', 'b']);
        const { done: count } = await bench.adapter.counts();
        await bench.adapter.prune({ keepFinishedMs: 0, keepFinished: count - 1, keepDeadMs: 0 });
        assert.deepEqual(await left(), ['b']);
      },
    },
    {
      title: 'are not active, for a lease cannot be moved; then none of them comes in',
      only: ['importer'],
      async run(bench) {
        const jobs = [await movedJob(bench, { id: 'good' }), await movedJob(bench, { id: 'bad', state: 'active', starts: 1, epoch: 1 })];
        await refusedField(bringIn(bench, jobs), 'state', 'an active job');
        assert.equal(await bench.adapter.get('good'), null);
      },
    },
  ],
};
