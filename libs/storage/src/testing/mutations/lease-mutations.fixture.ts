import { JobTable, type Settlement } from '../../job-table/index.js';
import type { Lease } from '../../contract/index.js';
import { dedupe } from '../chapters/dedupe.js';
import { lease } from '../chapters/lease.js';
import { repeat } from '../chapters/repeat.js';
import type { Mutation, Sabotage } from './sabotage.fixture.js';

const SETTLES = ['ack', 'nack', 'release', 'requeue'] as const;
type Settle = (lease: Lease, ...rest: never[]) => Settlement;

/** Each settle, one after the other, given the sound one. */
function replaceSettles(
  sabotage: Sabotage,
  broken: (sound: Settle) => (this: JobTable, lease: Lease, ...rest: never[]) => Settlement,
): void {
  for (const verb of SETTLES) sabotage.replace(JobTable, verb, broken as never);
}

/** The verb acts on whatever delivery the job is in. */
function ignoreEpoch(verb: (typeof SETTLES)[number] | 'leaseState'): Mutation {
  return {
    name: `${verb} ignores the epoch`,
    noticedBy: lease,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        verb,
        ((sound: (lease: Lease, ...rest: never[]) => unknown) =>
          function (this: JobTable, lease: Lease, ...rest: never[]) {
            return sound.call(this, { id: lease.id, epoch: this.jobs.get(lease.id)?.epoch ?? lease.epoch }, ...rest);
          }) as never,
      ),
  };
}

export const leaseMutations: readonly Mutation[] = [
  ...SETTLES.map(ignoreEpoch),
  ignoreEpoch('leaseState'),
  {
    name: 'a requeue does not raise the epoch',
    noticedBy: lease,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'requeue',
        (sound) =>
          function (lease, reason, now) {
            const settlement = sound.call(this, lease, reason, now);
            if (settlement.event !== null) this.jobs.get(lease.id)!.epoch = settlement.event.epoch;
            return settlement;
          },
      ),
  },
  {
    name: 'a claim does not raise the epoch after the first',
    noticedBy: lease,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'claim',
        (sound) =>
          function (queue, limit, now) {
            const claimed = sound.call(this, queue, limit, now);
            for (const entry of claimed?.entries ?? []) if (entry.starts > 1) entry.epoch--;
            return claimed;
          },
      ),
  },
  {
    name: 'a redrive sets the epoch to 0',
    noticedBy: lease,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'redrive',
        (sound) =>
          function (id, now) {
            const event = sound.call(this, id, now);
            this.jobs.get(id)!.epoch = 0;
            return event;
          },
      ),
  },
  {
    name: 'the first epoch of a job is 1, also of one whose id was used before',
    noticedBy: dedupe,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'claim',
        (sound) =>
          function (queue, limit, now) {
            const first = [...this.jobs.all()].filter(({ epoch }) => epoch === 0);
            const claimed = sound.call(this, queue, limit, now);
            for (const entry of claimed?.entries ?? []) if (first.includes(entry)) entry.epoch = 1;
            return claimed;
          },
      ),
  },
  {
    name: 'the settle mark is forgotten',
    noticedBy: repeat,
    breaks: (sabotage) =>
      replaceSettles(
        sabotage,
        (sound) =>
          function (lease, ...rest) {
            const settlement = sound.call(this, lease, ...rest);
            this.jobs.get(lease.id)!.ensureDetail().mark = null;
            return settlement;
          },
      ),
  },
  {
    name: 'the settle mark outlives the next claim',
    noticedBy: repeat,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'claim',
        (sound) =>
          function (queue, limit, now) {
            const marks = new Map([...this.jobs.all()].map((entry) => [entry, entry.detail?.mark ?? null]));
            const claimed = sound.call(this, queue, limit, now);
            for (const entry of claimed?.entries ?? []) entry.ensureDetail().mark = marks.get(entry)!;
            return claimed;
          },
      ),
  },
  {
    name: 'the settle mark is lost with the promotion',
    noticedBy: repeat,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'promote',
        (sound) =>
          function (now) {
            const event = sound.call(this, now);
            for (const { id } of event?.leases ?? []) this.jobs.get(id)!.ensureDetail().mark = null;
            return event;
          },
      ),
  },
  ...(['cancel', 'redrive'] as const).map((verb): Mutation => ({
    name: `the settle mark outlives a ${verb}`,
    noticedBy: repeat,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        verb,
        ((sound: (...args: unknown[]) => unknown) =>
          function (this: JobTable, id: string, now: unknown) {
            const mark = this.jobs.get(id)?.detail?.mark ?? null;
            const event = sound.call(this, id, now);
            this.jobs.get(id)!.ensureDetail().mark = mark;
            return event;
          }) as never,
      ),
  })),
  {
    name: 'any settle with the epoch of the last one is taken for its repetition',
    noticedBy: repeat,
    breaks: (sabotage) =>
      replaceSettles(
        sabotage,
        (sound) =>
          function (lease, ...rest) {
            try {
              return sound.call(this, lease, ...rest);
            } catch (error) {
              if (this.jobs.get(lease.id)?.detail?.mark?.epoch !== lease.epoch) throw error;
              return { event: null, refused: false };
            }
          },
      ),
  },
];
