import assert from 'node:assert/strict';
import { LIMITS, type Lease } from '../../contract/index.js';
import type { KitChapter } from '../kit-case.js';

/** A storage writes the notes of a job once a second at most. */
const NEXT_NOTE_MS = 1100;
const LEASE_MS = 600_000;
const NO = { code: 'failed', message: 'no' } as const;

export const extend: KitChapter = {
  title: 'extend, progress and log',
  cases: [
    {
      title: 'answers every lease of the call, in its order: held, lost or cancel_requested',
      async run(bench) {
        await bench.addAll(4);
        const [held, cancelled, acked, requeued] = await bench.claim({ limit: 4 });
        await bench.adapter.cancel(cancelled!.id);
        await bench.adapter.ack(acked!);
        await bench.adapter.requeue(requeued!, 'hung');
        const leases: Lease[] = [requeued!, held!, { id: 'nobody', epoch: 1 }, cancelled!, acked!, held!];
        const outcomes = await bench.adapter.extend(
          leases.map((lease) => ({ lease })),
          LEASE_MS,
        );
        assert.deepEqual(outcomes, ['lost', 'held', 'lost', 'cancel_requested', 'lost', 'held']);
        assert.deepEqual(await bench.adapter.extend([], LEASE_MS), []);
      },
    },
    {
      title: 'changes nothing that can be seen but the notes',
      async run(bench) {
        const id = await bench.add();
        const lease = await bench.take();
        for (let i = 0; i < 5; i++) assert.deepEqual(await bench.adapter.extend([{ lease }], 1000 + i), ['held']);
        assert.deepEqual(await bench.look(id), lease);
        await bench.adapter.extend([{ lease, progress: { percent: 12.5, note: 'half of a quarter' }, log: ['begun'] }], LEASE_MS);
        assert.deepEqual(await bench.look(id), { ...lease, progress: { percent: 12.5, note: 'half of a quarter' }, log: ['begun'] });
        await bench.adapter.ack(lease);
      },
    },
    {
      title: 'keeps the last progress, and adds up the log',
      async run(bench) {
        const id = await bench.add();
        const lease = await bench.take();
        const notes = [
          { progress: { percent: 0, note: null }, log: ['one'] },
          { log: ['two', 'three'] },
          { progress: { percent: 100, note: 'done \u{1f389}' } },
          {},
          { log: [] },
        ];
        for (const note of notes) {
          await bench.adapter.extend([{ lease, ...note }], LEASE_MS);
          await bench.advance(NEXT_NOTE_MS);
        }
        const job = await bench.look(id);
        assert.deepEqual(job.progress, { percent: 100, note: 'done \u{1f389}' });
        assert.deepEqual(job.log, ['one', 'two', 'three']);
      },
    },
    {
      title: 'keeps the last lines of the log, each cut to its limit',
      async run(bench) {
        const id = await bench.add();
        const lease = await bench.take();
        const lines = Array.from({ length: 2 * LIMITS.logLines }, (_, i) => `${i} ${'x'.repeat(LIMITS.logLine)}`);
        await bench.adapter.extend([{ lease, log: lines.slice(0, 5) }], LEASE_MS);
        await bench.adapter.extend([{ lease, log: lines.slice(5) }], LEASE_MS);
        await bench.advance(NEXT_NOTE_MS);
        await bench.adapter.extend([{ lease }], LEASE_MS);
        const expected = lines.slice(-LIMITS.logLines).map((line) => line.slice(0, LIMITS.logLine));
        assert.deepEqual((await bench.look(id)).log, expected);
      },
    },
    {
      title: 'bears a flood of notes, and the last one is kept (H15)',
      async run(bench) {
        const id = await bench.add();
        const lease = await bench.take();
        const calls = Array.from({ length: 500 }, (_, i) => {
          return bench.adapter.extend([{ lease, progress: { percent: i / 5, note: String(i) }, log: [String(i)] }], LEASE_MS);
        });
        assert.ok((await Promise.all(calls)).flat().every((outcome) => outcome === 'held'));
        await bench.advance(NEXT_NOTE_MS);
        await bench.adapter.extend([{ lease }], LEASE_MS);
        const job = await bench.look(id);
        assert.equal(job.progress?.note, '499');
        assert.deepEqual(
          job.log,
          Array.from({ length: LIMITS.logLines }, (_, i) => String(500 - LIMITS.logLines + i)),
        );
      },
    },
    {
      title: 'begins a delivery without progress; the log goes on, and both stay when the job is over',
      async run(bench) {
        const id = await bench.add();
        const first = await bench.take();
        await bench.adapter.extend([{ lease: first, progress: { percent: 90, note: null }, log: ['first'] }], LEASE_MS);
        await bench.adapter.nack(first, NO, { retryInMs: 0 });
        assert.equal((await bench.look(id)).progress?.percent, 90, 'it shows how far the failed delivery came');
        const second = await bench.take();
        assert.deepEqual([second.progress, second.log], [null, ['first']]);
        await bench.advance(NEXT_NOTE_MS);
        await bench.adapter.extend([{ lease: second, progress: { percent: 100, note: null }, log: ['second'] }], LEASE_MS);
        await bench.adapter.ack(second);
        const done = await bench.look(id);
        assert.deepEqual([done.progress?.percent, done.log], [100, ['first', 'second']]);
      },
    },
  ],
};
