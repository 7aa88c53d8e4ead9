import assert from 'node:assert/strict';
import { pending, refused, within } from '../expectations.js';
import type { KitChapter } from '../kit-case.js';
import { VERBS } from './verbs.js';

const DURABILITIES = ['memory', 'os', 'interval', 'fsync', 'replicated', 'unknown'];

export const lifecycle: KitChapter = {
  title: 'opening and closing',
  cases: [
    {
      title: 'opens twice and closes twice as it does once',
      closed: true,
      async run({ adapter }) {
        await adapter.open();
        await adapter.open();
        assert.equal(adapter.health().state, 'open');
        await adapter.close();
        await adapter.close();
        assert.equal(adapter.health().state, 'closed');
      },
    },
    {
      title: 'opens once for all who open it at the same time',
      closed: true,
      async run({ adapter }) {
        await Promise.all([adapter.open(), adapter.open(), adapter.open()]);
        assert.equal(adapter.health().state, 'open');
        assert.equal((await adapter.counts()).ready, 0);
      },
    },
    {
      title: 'closes before it was ever opened, and opens after that',
      closed: true,
      async run({ adapter }) {
        await adapter.close();
        await adapter.open();
        assert.equal(adapter.health().state, 'open');
      },
    },
    {
      title: 'ends closed when it is closed while it opens',
      closed: true,
      async run({ adapter }) {
        const opening = adapter.open();
        await adapter.close();
        await opening;
        assert.equal(adapter.health().state, 'closed');
        await refused(adapter.counts(), 'not_open');
      },
    },
    {
      title: 'ends open when it is opened while it closes',
      async run({ adapter }) {
        const closing = adapter.close();
        await adapter.open();
        await closing;
        assert.equal(adapter.health().state, 'open');
      },
    },
    {
      title: 'refuses every call before it is opened',
      closed: true,
      async run({ adapter }) {
        for (const [name, call] of Object.entries(VERBS)) await refused(call(adapter), 'not_open', `${name} is refused before open`);
      },
    },
    {
      title: 'says "starting" to every call while it opens',
      closed: true,
      async run({ adapter }) {
        const opening = adapter.open();
        const calls = Object.entries(VERBS).map(([name, call]) => refused(call(adapter), 'starting', `${name} is refused while it opens`));
        await Promise.all([opening, ...calls]);
      },
    },
    {
      title: 'refuses every call after it is closed',
      async run({ adapter }) {
        await adapter.close();
        for (const [name, call] of Object.entries(VERBS)) await refused(call(adapter), 'not_open', `${name} is refused after close`);
      },
    },
    {
      title: 'shows in its health where it is in its life',
      closed: true,
      async run({ adapter }) {
        const closed = adapter.health();
        assert.deepEqual([closed.state, closed.writable], ['closed', false]);
        assert.ok(closed.reason, 'it says why it is not writable');
        const opening = adapter.open();
        assert.deepEqual([adapter.health().state, adapter.health().writable], ['opening', false]);
        await opening;
        const open = adapter.health();
        assert.deepEqual([open.state, open.writable, open.reason], ['open', true, null]);
        await adapter.close();
        assert.deepEqual([adapter.health().state, adapter.health().writable], ['closed', false]);
      },
    },
    {
      title: 'ends a claim that still waits when it is closed',
      async run(bench) {
        const waiting = bench.claim({ waitMs: 60_000 });
        await pending(waiting, 'the claim waits');
        await within(bench.adapter.close(), 'close ends although a claim waits');
        const jobs = await within(
          waiting.catch(() => []),
          'the waiting claim ends with close',
        );
        assert.deepEqual(jobs, []);
      },
    },
    {
      title: 'declares its capabilities in words of the contract, and before it is opened',
      closed: true,
      async run({ adapter }) {
        const { kind, durability, shared, persistent } = adapter.capabilities;
        assert.ok(kind.length > 0);
        assert.ok(DURABILITIES.includes(durability), `${durability} is a durability`);
        assert.equal(typeof shared, 'boolean');
        assert.equal(typeof persistent, 'boolean');
        assert.ok(persistent || durability === 'memory', 'what survives nothing is of durability memory');
        await adapter.open();
        assert.equal(adapter.capabilities.kind, kind);
      },
    },
    {
      title: 'is itself again, jobs included, after it was closed and opened',
      only: ['persistent'],
      async run(bench) {
        const id = await bench.add({ payload: 'kept' });
        await bench.adapter.close();
        await bench.adapter.open();
        assert.equal((await bench.look(id)).payload, 'kept');
      },
    },
  ],
};
