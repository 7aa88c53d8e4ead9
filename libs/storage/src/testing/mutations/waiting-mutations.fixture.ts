import { StorageAdapter } from '../../contract/index.js';
import { JobTable } from '../../job-table/index.js';
import { ClaimWaiters } from '../../table-adapter/claim-waiters.js';
import { JobTableAdapter } from '../../table-adapter/index.js';
import { events } from '../chapters/events.js';
import { extend } from '../chapters/extend.js';
import { longPoll } from '../chapters/long-poll.js';
import type { Mutation } from './sabotage.fixture.js';

/** A protected method, which only a test reaches from outside. */
function silence(type: { readonly prototype: object }, name: string): Mutation['breaks'] {
  return (sabotage) => sabotage.replace(type as { prototype: Record<string, () => undefined> }, name, () => () => undefined);
}

/** Of the adapter around the table: claims that wait, events, notes. What the walk, which waits for nothing, cannot see. */
export const waitingMutations: readonly Mutation[] = [
  { name: 'a claim that waits is not woken', noticedBy: longPoll, walk: false, breaks: silence(JobTableAdapter, 'wake') },
  {
    name: 'a claim that waits ignores its abort',
    noticedBy: longPoll,
    walk: false,
    breaks: (sabotage) =>
      sabotage.replace(
        ClaimWaiters,
        'wait',
        (sound) =>
          function ({ signal: _, ...request }, waitMs) {
            return sound.call(this, request, waitMs);
          },
      ),
  },
  {
    name: 'a claim waits half the time it may',
    noticedBy: longPoll,
    walk: false,
    breaks: (sabotage) =>
      sabotage.replace(
        ClaimWaiters,
        'wait',
        (sound) =>
          function (request, waitMs) {
            return sound.call(this, request, waitMs / 2);
          },
      ),
  },
  {
    name: 'a claim that waits is ended by whatever happens',
    noticedBy: longPoll,
    walk: false,
    breaks: (sabotage) =>
      sabotage.replace(
        ClaimWaiters,
        'serve',
        (sound) =>
          function (queue, take) {
            return sound.call(this, queue, (request) => take(request) ?? Promise.resolve([]));
          },
      ),
  },
  { name: 'nobody is told of a requested cancellation', noticedBy: events, walk: false, breaks: silence(StorageAdapter, 'emit') },
  {
    name: 'a delivery begins with the progress of the one before',
    noticedBy: extend,
    walk: false,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'claim',
        (sound) =>
          function (queue, limit, now) {
            const before = new Map([...this.jobs.all()].map((entry) => [entry, entry.detail?.progress ?? null]));
            const claimed = sound.call(this, queue, limit, now);
            for (const entry of claimed?.entries ?? []) entry.ensureDetail().progress = before.get(entry)!;
            return claimed;
          },
      ),
  },
  {
    name: 'the log keeps only the lines of the last note',
    noticedBy: extend,
    walk: false,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'note',
        (sound) =>
          function (id, progress, log) {
            if (log.length > 0) this.jobs.get(id)!.ensureDetail().log = [];
            return sound.call(this, id, progress, log);
          },
      ),
  },
];
