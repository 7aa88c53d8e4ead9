import { JobTable, type JobEntry, type Now } from '../../job-table/index.js';
import { Shelves } from '../../job-table/shelves.js';
import { claim } from '../chapters/claim.js';
import { clocks } from '../chapters/clocks.js';
import { delayed } from '../chapters/delayed.js';
import type { KitChapter } from '../kit-case.js';
import type { Mutation } from './sabotage.fixture.js';

/** A claim takes the ready job that stands first by another order. */
function reordered(name: string, before: (a: JobEntry, b: JobEntry) => number): Mutation {
  return {
    name,
    noticedBy: claim,
    breaks: (sabotage) =>
      sabotage.replace(
        Shelves,
        'takeReady',
        (sound) =>
          function (queue) {
            const all: JobEntry[] = [];
            for (let entry = sound.call(this, queue); entry !== undefined; entry = sound.call(this, queue)) all.push(entry);
            const [taken] = [...all].sort(before);
            for (const entry of all.filter((other) => other !== taken).sort((a, b) => a.readySeq - b.readySeq)) {
              entry.state = 'ready';
              this.counts.active--;
              this.counts.ready++;
              this.shelve(entry);
            }
            return taken;
          },
      ),
  };
}

/** The clock that `promote` and `prune` go by. */
function otherClock(name: string, noticedBy: KitChapter, verb: 'promote' | 'prune', clock: (now: Now, first: Now) => Now): Mutation {
  const beginnings = new WeakMap<JobTable, Now>();
  return {
    name,
    noticedBy,
    breaks: (sabotage) => {
      sabotage.replace(
        JobTable,
        'prepare',
        (sound) =>
          function (jobs, now) {
            if (!beginnings.has(this)) beginnings.set(this, now);
            return sound.call(this, jobs, now);
          },
      );
      sabotage.replace(
        JobTable,
        verb,
        ((sound: (...args: unknown[]) => unknown) =>
          function (this: JobTable, ...args: unknown[]) {
            const now = args.pop() as Now;
            return sound.call(this, ...args, clock(now, beginnings.get(this) ?? now));
          }) as never,
      );
    },
  };
}

function byWallClock(now: Now, first: Now): Now {
  return { wall: now.wall, mono: first.mono + now.wall - first.wall };
}

export const orderMutations: readonly Mutation[] = [
  reordered('the queue is last in, first out', (a, b) => b.priority - a.priority || b.readySeq - a.readySeq),
  reordered('the lowest priority goes first', (a, b) => a.priority - b.priority || a.readySeq - b.readySeq),
  reordered('priorities are ignored', (a, b) => a.readySeq - b.readySeq),
  reordered('a job that comes back takes its old place', (a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1)),
  {
    name: 'a claim gives one job more than it was asked for',
    noticedBy: claim,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'claim',
        (sound) =>
          function (queue, limit, now) {
            return sound.call(this, queue, limit + 1, now);
          },
      ),
  },
  {
    name: 'a claim leaves the first of its jobs ready',
    noticedBy: claim,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'claim',
        (sound) =>
          function (queue, limit, now) {
            const claimed = sound.call(this, queue, limit, now);
            if (claimed !== null && claimed.entries.length > 1) this.jobs.shelves.move(claimed.entries[0]!, 'ready');
            return claimed;
          },
      ),
  },
  {
    name: 'a claim that finds nothing takes from the default queue',
    noticedBy: claim,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'claim',
        (sound) =>
          function (queue, limit, now) {
            return sound.call(this, queue, limit, now) ?? sound.call(this, 'default', limit, now);
          },
      ),
  },
  {
    name: 'a claim makes all due jobs ready, however many',
    noticedBy: delayed,
    walk: false,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'promote',
        (sound) =>
          function (now) {
            const events = [];
            for (let event = sound.call(this, now); event !== null; event = sound.call(this, now)) events.push(event);
            return events[0] === undefined ? null : { ...events[0], leases: events.flatMap(({ leases }) => leases) };
          },
      ),
  },
  {
    name: 'due jobs become ready in the order of their ids',
    noticedBy: delayed,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'promote',
        (sound) =>
          function (now) {
            const event = sound.call(this, now);
            const entries = (event?.leases ?? []).map(({ id }) => this.jobs.get(id)!).sort((a, b) => (a.id < b.id ? -1 : 1));
            for (const entry of entries) this.jobs.shelves.move(entry, 'active');
            for (const entry of entries) this.jobs.shelves.move(entry, 'ready');
            return event;
          },
      ),
  },
  otherClock('a delay ends a millisecond early', delayed, 'promote', (now) => ({ wall: now.wall + 1, mono: now.mono + 1 })),
  otherClock('delays are measured by the wall clock', clocks, 'promote', byWallClock),
  otherClock('the age of finished jobs is measured by the wall clock', clocks, 'prune', byWallClock),
];
