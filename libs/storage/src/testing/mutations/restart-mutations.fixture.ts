import { WalStorageAdapter } from '../../adapters/wal/wal.adapter.js';
import { JobTable, type JobEntry, type Now } from '../../job-table/index.js';
import type { Ticket } from '../../table-adapter/index.js';
import { clocks } from '../chapters/clocks.js';
import { durability } from '../chapters/durability.js';
import { restart } from '../chapters/restart.js';
import type { KitChapter } from '../kit-case.js';
import type { Mutation } from './sabotage.fixture.js';

/** What a replay has read is changed before the jobs take their places. */
function replayed(name: string, noticedBy: KitChapter, change: (entry: JobEntry, table: JobTable, now: Now) => void): Mutation {
  return {
    name,
    noticedBy,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'endReplay',
        (sound) =>
          function (now, epochFloor) {
            for (const entry of this.jobs.all()) change(entry, this, now);
            return sound.call(this, now, epochFloor);
          },
      ),
  };
}

/** A promise about the disk is given too early. Protected methods, which only a test reaches from outside. */
function hasty(name: string, method: 'keep' | 'keepJobs'): Mutation {
  return {
    name,
    noticedBy: method === 'keep' ? durability : restart,
    breaks: (sabotage) =>
      sabotage.replace(
        WalStorageAdapter as unknown as { prototype: Record<string, (kept: unknown) => Ticket> },
        method,
        (sound) =>
          function (kept) {
            const ticket = sound.call(this, kept);
            ticket.durable = () => Promise.resolve();
            return ticket;
          },
      ),
  };
}

/** Of a table that lives on in a log, and of the promises about that log. */
export const restartMutations: readonly Mutation[] = [
  replayed('a restart forgets the settle marks', durability, (entry) => {
    if (entry.detail !== null) entry.detail.mark = null;
  }),
  replayed('a restart forgets the dedupe keys', durability, (entry, table) => table.jobs.incoming.forgetKey(entry)),
  replayed('a restart forgets the order of the ready', durability, (entry) => (entry.readySeq = -entry.readySeq)),
  replayed('a restart forgets the results', durability, (entry) => {
    if (entry.detail !== null) entry.detail.result = null;
  }),
  replayed('a restart begins every delay anew', clocks, (entry, _, now) => {
    if (entry.state === 'delayed') entry.runAt = now.wall + entry.due!.delayMs;
  }),
  replayed('a restart counts the rest of a delay longer than it was', clocks, (entry) => {
    if (entry.state === 'delayed') Object.assign(entry.due!, { delayMs: Infinity });
  }),
  {
    name: 'a restart lets the epochs begin where the table had them, not above all that were given out',
    noticedBy: restart,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'endReplay',
        (sound) =>
          function (now) {
            return sound.call(this, now, 0);
          },
      ),
  },
  {
    name: 'a restart leaves the epoch of a job that it takes from the dead boot',
    noticedBy: restart,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'endReplay',
        (sound) =>
          function (now, epochFloor) {
            const events = sound.call(this, now, epochFloor);
            for (const { id, epoch } of events) this.jobs.get(id)!.epoch = epoch;
            return events;
          },
      ),
  },
  {
    name: 'a restart charges an attempt for what the dead boot had in hand',
    noticedBy: restart,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'endReplay',
        (sound) =>
          function (now, epochFloor) {
            const events = sound.call(this, now, epochFloor);
            for (const entry of events.map(({ id }) => this.jobs.get(id)!)) {
              entry.requeues--;
              entry.attempts++;
            }
            return events;
          },
      ),
  },
  hasty('an ack is answered before it is on disk', 'keep'),
  hasty('an enqueue is answered before it is on disk', 'keepJobs'),
  {
    name: 'a reader is shown what is not on disk',
    noticedBy: durability,
    breaks: (sabotage) =>
      sabotage.replace(
        WalStorageAdapter as unknown as { prototype: Record<string, () => null> },
        'barrier',
        () =>
          function () {
            return null;
          },
      ),
  },
];
