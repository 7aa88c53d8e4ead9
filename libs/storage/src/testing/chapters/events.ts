import assert from 'node:assert/strict';
import type { StorageAdapter } from '../../contract/index.js';
import { turns, within } from '../expectations.js';
import type { KitChapter } from '../kit-case.js';

/** The leases that a subscriber was told about, and a promise for when they are `count`. */
class Listener {
  readonly told: string[] = [];
  readonly stop: () => void;
  #notify = (): void => undefined;

  constructor(adapter: StorageAdapter) {
    this.stop = adapter.subscribe((event) => {
      if (event.type !== 'cancel_requested') return;
      this.told.push(`${event.lease.id}@${event.lease.epoch}`);
      this.#notify();
    });
  }

  until(count: number): Promise<void> {
    const told = new Promise<void>((resolve) => {
      this.#notify = () => this.told.length >= count && resolve();
      this.#notify();
    });
    return within(told, `${count} events`);
  }
}

export const events: KitChapter = {
  title: 'events',
  cases: [
    {
      title: 'tells every subscriber which lease is to be given up',
      async run(bench) {
        const one = new Listener(bench.adapter);
        const other = new Listener(bench.adapter);
        const id = await bench.add();
        const { epoch } = await bench.take();
        await bench.adapter.cancel(id);
        await Promise.all([one.until(1), other.until(1)]);
        assert.deepEqual([one.told, other.told], [[`${id}@${epoch}`], [`${id}@${epoch}`]]);
      },
    },
    {
      title: 'tells nobody who has unsubscribed',
      async run(bench) {
        const gone = new Listener(bench.adapter);
        const there = new Listener(bench.adapter);
        gone.stop();
        gone.stop();
        const id = await bench.add();
        await bench.take();
        await bench.adapter.cancel(id);
        await there.until(1);
        assert.deepEqual(gone.told, []);
      },
    },
    {
      title: 'tells nothing where no worker has to stop: jobs that wait, are over or are cancelled already',
      async run(bench) {
        const listener = new Listener(bench.adapter);
        const [ready, delayed, done] = await bench.addAll(3, (i) => (i === 1 ? { delayMs: 100_000 } : { priority: i === 2 ? 9 : 5 }));
        await bench.adapter.ack(await bench.take());
        await bench.adapter.cancel(ready!);
        await bench.adapter.cancel(delayed!);
        await bench.adapter.cancel(done!).catch(() => undefined);
        const id = await bench.add();
        const lease = await bench.take();
        await bench.adapter.cancel(id);
        await bench.adapter.cancel(id);
        await listener.until(1);
        await turns(5);
        assert.deepEqual(listener.told, [`${id}@${lease.epoch}`]);
      },
    },
    {
      title: 'goes on telling after it was closed and opened',
      async run(bench) {
        const listener = new Listener(bench.adapter);
        await bench.adapter.close();
        await bench.adapter.open();
        const id = await bench.add();
        await bench.take();
        await bench.adapter.cancel(id);
        await listener.until(1);
      },
    },
  ],
};
