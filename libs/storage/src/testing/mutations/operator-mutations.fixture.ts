import { OrchdError } from '../../contract/index.js';
import { JobEntry, JobTable } from '../../job-table/index.js';
import { JobStore } from '../../job-table/job-store.js';
import { cancel } from '../chapters/cancel.js';
import { list } from '../chapters/list.js';
import { prune } from '../chapters/prune.js';
import { redrive } from '../chapters/redrive.js';
import type { Mutation } from './sabotage.fixture.js';

export const operatorMutations: readonly Mutation[] = [
  {
    name: 'a redrive keeps the counters',
    noticedBy: redrive,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'redrive',
        (sound) =>
          function (id, now) {
            const { starts, attempts, requeues, releases } = this.jobs.get(id) ?? {};
            const event = sound.call(this, id, now);
            Object.assign(this.jobs.get(id)!, { starts, attempts, requeues, releases });
            return event;
          },
      ),
  },
  {
    name: 'a redrive forgets the last error',
    noticedBy: redrive,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'redrive',
        (sound) =>
          function (id, now) {
            const event = sound.call(this, id, now);
            this.jobs.get(id)!.ensureDetail().error = null;
            return event;
          },
      ),
  },
  {
    name: 'a cancel of an active job takes it away at once',
    noticedBy: cancel,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'cancel',
        (sound) =>
          function (id, now) {
            const event = sound.call(this, id, now);
            const entry = this.jobs.get(id)!;
            if (entry.state === 'active') {
              entry.ensureDetail().finishedAt = now.wall;
              this.jobs.shelves.move(entry, 'cancelled');
            }
            return event;
          },
      ),
  },
  {
    name: 'what is over can be cancelled again',
    noticedBy: cancel,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'cancel',
        (sound) =>
          function (id, now) {
            try {
              return sound.call(this, id, now);
            } catch (error) {
              if (error instanceof OrchdError && error.code === 'already_finished') return null;
              throw error;
            }
          },
      ),
  },
  {
    name: 'prune takes the dead with the others',
    noticedBy: prune,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'prune',
        (sound) =>
          function (policy, now) {
            return sound.call(this, { ...policy, keepDeadMs: policy.keepDeadMs || policy.keepFinishedMs }, now);
          },
      ),
  },
  {
    name: 'prune forgets all at once, however many',
    noticedBy: prune,
    walk: false,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'prune',
        (sound) =>
          function (policy, now) {
            const ids = [];
            for (let event = sound.call(this, policy, now); event !== null; event = sound.call(this, policy, now)) ids.push(...event.ids);
            return ids.length === 0 ? null : { kind: 'prune', ids };
          },
      ),
  },
  {
    name: 'prune keeps one job fewer than it may',
    noticedBy: prune,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'prune',
        (sound) =>
          function (policy, now) {
            return sound.call(
              this,
              { ...policy, keepFinished: policy.keepFinished > 1 ? policy.keepFinished - 1 : policy.keepFinished },
              now,
            );
          },
      ),
  },
];

export const readingMutations: readonly Mutation[] = [
  {
    name: 'a full page of a list lacks its last job',
    noticedBy: list,
    breaks: (sabotage) =>
      sabotage.replace(
        JobStore,
        'scan',
        (sound) =>
          function (query, cursor, limit, budget) {
            const page = sound.call(this, query, cursor, limit, budget);
            return page.rest === null ? page : { ...page, matches: page.matches.slice(0, -1) };
          },
      ),
  },
  {
    name: 'a list ignores the state it is asked for',
    noticedBy: list,
    breaks: (sabotage) =>
      sabotage.replace(
        JobStore,
        'scan',
        (sound) =>
          function ({ state: _, ...query }, cursor, limit, budget) {
            return sound.call(this, query, cursor, limit, budget);
          },
      ),
  },
  {
    name: 'the counts leave out the cancelled',
    noticedBy: list,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'counts',
        (sound) =>
          function () {
            return { ...sound.call(this), cancelled: 0 };
          },
      ),
  },
  {
    name: 'a record that was given out changes with its job',
    noticedBy: list,
    walk: false,
    breaks: (sabotage) => {
      const given = new WeakMap<JobEntry, object>();
      sabotage.replace(
        JobEntry,
        'toRecord',
        (sound) =>
          function () {
            const record = Object.assign(given.get(this) ?? {}, sound.call(this));
            given.set(this, record);
            return record;
          },
      );
    },
  },
];
