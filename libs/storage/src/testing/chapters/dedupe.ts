import assert from 'node:assert/strict';
import { refused } from '../expectations.js';
import type { KitChapter } from '../kit-case.js';

const PRUNE_ALL = { keepFinishedMs: 1, keepFinished: 0, keepDeadMs: 1 };

export const dedupe: KitChapter = {
  title: 'repeated requests (R11)',
  cases: [
    {
      title: 'answers an equal request with the same id by the job that is there, in the state it has by now',
      async run(bench) {
        const job = bench.newJob({ id: 'one', fingerprint: 'f' });
        const outcomes = [await bench.adapter.enqueue([job]), await bench.adapter.enqueue([job])];
        const lease = await bench.take();
        outcomes.push(await bench.adapter.enqueue([job]));
        await bench.adapter.ack(lease);
        outcomes.push(await bench.adapter.enqueue([job]));
        assert.deepEqual(
          outcomes.flat().map(({ id, state, created }) => [id, state, created]),
          [
            ['one', 'ready', true],
            ['one', 'ready', false],
            ['one', 'active', false],
            ['one', 'done', false],
          ],
        );
        assert.equal((await bench.all()).length, 1);
      },
    },
    {
      title: 'answers an equal request with the same key by the first job, whatever else it says',
      async run(bench) {
        const id = await bench.add({ queue: 'first', dedupeKey: 'key', fingerprint: 'f', payload: 'first' });
        const [outcome] = await bench.adapter.enqueue([bench.newJob({ queue: 'second', dedupeKey: 'key', fingerprint: 'f' })]);
        assert.deepEqual(outcome, { id, state: 'ready', queue: 'first', type: 'kit', created: false });
        assert.equal((await bench.look(id)).payload, 'first');
        assert.equal((await bench.all()).length, 1);
      },
    },
    {
      title: 'refuses another request with the same id or the same key',
      async run(bench) {
        await bench.add({ id: 'one', dedupeKey: 'key', fingerprint: 'f' });
        await refused(bench.adapter.enqueue([bench.newJob({ id: 'one', fingerprint: 'g' })]), 'conflict');
        await refused(bench.adapter.enqueue([bench.newJob({ dedupeKey: 'key', fingerprint: 'g' })]), 'conflict');
        await refused(bench.adapter.enqueue([bench.newJob({ id: 'one' })]), 'conflict');
        assert.equal((await bench.all()).length, 1);
      },
    },
    {
      title: 'takes no two requests without fingerprint for the same',
      async run(bench) {
        await bench.add({ id: 'one', dedupeKey: 'key' });
        await refused(bench.adapter.enqueue([bench.newJob({ id: 'one' })]), 'conflict');
        await refused(bench.adapter.enqueue([bench.newJob({ dedupeKey: 'key' })]), 'conflict');
      },
    },
    {
      title: 'refuses a request whose id and key belong to two jobs',
      async run(bench) {
        await bench.add({ id: 'one', dedupeKey: 'key 1', fingerprint: 'f' });
        await bench.add({ id: 'two', dedupeKey: 'key 2', fingerprint: 'f' });
        await refused(bench.adapter.enqueue([bench.newJob({ id: 'one', dedupeKey: 'key 2', fingerprint: 'f' })]), 'conflict');
      },
    },
    {
      title: 'makes one job of equal twins in a batch and answers its id twice',
      async run(bench) {
        const byId = bench.newJob({ id: 'one', fingerprint: 'f' });
        const byKey = bench.newJob({ dedupeKey: 'key', fingerprint: 'g' });
        const outcomes = await bench.adapter.enqueue([byId, byKey, byId, byKey]);
        assert.deepEqual(
          outcomes.map(({ created }) => created),
          [true, true, false, false],
        );
        assert.deepEqual([outcomes[0]!.id, outcomes[1]!.id], [outcomes[2]!.id, outcomes[3]!.id]);
        assert.equal((await bench.claim({ limit: 10 })).length, 2);
      },
    },
    {
      title: 'refuses a batch with unequal twins as a whole',
      async run(bench) {
        const twins = [
          [bench.newJob({ id: 'one', fingerprint: 'f' }), bench.newJob({ id: 'one', fingerprint: 'g' })],
          [bench.newJob({ dedupeKey: 'key', fingerprint: 'f' }), bench.newJob({ dedupeKey: 'key', fingerprint: 'g' })],
          [bench.newJob({ id: 'one' }), bench.newJob({ id: 'one' })],
        ];
        for (const pair of twins) await refused(bench.adapter.enqueue([bench.newJob({ id: 'good' }), ...pair]), 'conflict');
        assert.deepEqual(await bench.all(), []);
        await bench.add({ id: 'one', dedupeKey: 'key' });
      },
    },
    {
      title: 'makes one job of 50 equal requests at the same instant (E01)',
      async run(bench) {
        const jobs = [bench.newJob({ id: 'one', fingerprint: 'f' }), bench.newJob({ dedupeKey: 'key', fingerprint: 'f' })];
        for (const job of jobs) {
          const outcomes = (await Promise.all(Array.from({ length: 50 }, () => bench.adapter.enqueue([job])))).flat();
          assert.equal(new Set(outcomes.map(({ id }) => id)).size, 1);
          assert.equal(outcomes.filter(({ created }) => created).length, 1);
        }
        assert.equal((await bench.all()).length, 2);
      },
    },
    {
      title: 'lets one of 50 different requests with one id win, and refuses the others',
      async run(bench) {
        const calls = Array.from({ length: 50 }, (_, i) =>
          bench.adapter.enqueue([bench.newJob({ id: 'one', payload: String(i), fingerprint: `f${i}` })]),
        );
        const results = await Promise.allSettled(calls);
        const won = results.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []));
        assert.equal(won.length, 1);
        assert.equal((await bench.look('one')).payload, String(won[0]));
        for (const [i, call] of calls.entries()) if (i !== won[0]) await refused(call, 'conflict');
      },
    },
    {
      title: 'lets ids and keys go with their job, not earlier',
      async run(bench) {
        const job = bench.newJob({ id: 'one', dedupeKey: 'key', fingerprint: 'f' });
        await bench.adapter.enqueue([job]);
        await bench.adapter.ack(await bench.take());
        await refused(bench.adapter.enqueue([bench.newJob({ dedupeKey: 'key', fingerprint: 'g' })]), 'conflict');
        await bench.advance(10);
        assert.equal(await bench.adapter.prune(PRUNE_ALL), 1);
        const [outcome] = await bench.adapter.enqueue([{ ...job, fingerprint: 'g' }]);
        assert.deepEqual([outcome!.id, outcome!.created, outcome!.state], ['one', true, 'ready']);
        assert.equal(
          (await bench.adapter.enqueue([{ ...job, id: 'two', fingerprint: 'g' }]))[0]!.id,
          'one',
          'the key leads to the new job',
        );
      },
    },
    {
      title: 'keeps a key that was given to a new job when another job is forgotten',
      async run(bench) {
        for (const print of ['f', 'g']) {
          await bench.add({ dedupeKey: 'key', fingerprint: print });
          await bench.adapter.cancel((await bench.all({ state: 'ready' }))[0]!.id);
          await bench.advance(10);
          assert.equal(await bench.adapter.prune(PRUNE_ALL), 1);
        }
        const id = await bench.add({ dedupeKey: 'key', fingerprint: 'h' });
        await bench.add({ dedupeKey: 'other key' });
        await bench.adapter.ack(await bench.take());
        const [outcome] = await bench.adapter.enqueue([bench.newJob({ dedupeKey: 'key', fingerprint: 'h' })]);
        assert.deepEqual([outcome!.id, outcome!.created], [id, false]);
      },
    },
    {
      title: 'gives a job that takes the id of a forgotten one none of its leases',
      async run(bench) {
        await bench.add({ id: 'one' });
        const first = await bench.take();
        await bench.adapter.requeue(first, 'hung');
        await bench.adapter.ack(await bench.take());
        await bench.advance(10);
        assert.equal(await bench.adapter.prune(PRUNE_ALL), 1);
        await bench.add({ id: 'one' });
        const second = await bench.take();
        assert.ok(second.epoch > first.epoch, 'its epochs go on where those of the forgotten job ended');
        await refused(bench.adapter.ack(first), 'lease_lost', 'a late worker of the forgotten job is refused');
        await bench.adapter.ack(second);
      },
    },
  ],
};
