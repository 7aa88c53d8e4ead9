import { JobTable, type JobEntry } from '../../job-table/index.js';
import type { Lease } from '../../contract/index.js';
import { cancel } from '../chapters/cancel.js';
import { limits } from '../chapters/limits.js';
import { settle } from '../chapters/settle.js';
import type { Mutation, Sabotage } from './sabotage.fixture.js';

type Settle = 'ack' | 'nack' | 'release' | 'requeue';

/** Changes the job after the verb has settled a delivery. */
function after(verb: Settle, change: (entry: JobEntry, table: JobTable) => void): (sabotage: Sabotage) => void {
  return (sabotage) =>
    sabotage.replace(
      JobTable,
      verb,
      ((sound: (lease: Lease, ...rest: unknown[]) => { event: unknown }) =>
        function (this: JobTable, lease: Lease, ...rest: unknown[]) {
          const settlement = sound.call(this, lease, ...rest);
          if (settlement.event !== null) change(this.jobs.get(lease.id)!, this);
          return settlement;
        }) as never,
    );
}

/** The verb takes the job to be other than it is. */
function mistaking(verb: Settle, mistake: Partial<JobEntry> | ((entry: JobEntry) => Partial<JobEntry>)): (sabotage: Sabotage) => void {
  return (sabotage) =>
    sabotage.replace(
      JobTable,
      verb,
      ((sound: (lease: Lease, ...rest: unknown[]) => unknown) =>
        function (this: JobTable, lease: Lease, ...rest: unknown[]) {
          const entry = this.jobs.get(lease.id);
          if (entry === undefined) return sound.call(this, lease, ...rest);
          const { maxAttempts, maxRequeues, backoff } = entry;
          Object.assign(entry, typeof mistake === 'function' ? mistake(entry) : mistake);
          try {
            return sound.call(this, lease, ...rest);
          } finally {
            Object.assign(entry, { maxAttempts, maxRequeues, backoff });
          }
        }) as never,
    );
}

export const settleMutations: readonly Mutation[] = [
  { name: 'a release charges an attempt', noticedBy: settle, breaks: after('release', (entry) => (entry.releases--, entry.attempts++)) },
  { name: 'a release counts nothing', noticedBy: settle, breaks: after('release', (entry) => entry.releases--) },
  { name: 'a requeue charges an attempt', noticedBy: settle, breaks: after('requeue', (entry) => (entry.requeues--, entry.attempts++)) },
  {
    name: 'a requeue counts nothing and undoes its start',
    noticedBy: settle,
    breaks: after('requeue', (entry) => (entry.requeues--, entry.starts--)),
  },
  {
    name: 'a nack for good charges no attempt',
    noticedBy: limits,
    breaks: after('nack', (entry) => {
      if (entry.state === 'dead' && entry.attempts < entry.maxAttempts) entry.attempts--;
    }),
  },
  { name: 'maxAttempts is ignored', noticedBy: limits, breaks: mistaking('nack', { maxAttempts: Infinity }) },
  {
    name: 'a job gets one attempt more than maxAttempts',
    noticedBy: limits,
    breaks: mistaking('nack', ({ maxAttempts }) => ({ maxAttempts: maxAttempts + 1 })),
  },
  { name: 'maxRequeues is ignored', noticedBy: limits, breaks: mistaking('requeue', { maxRequeues: Infinity }) },
  {
    name: 'a job dies at maxRequeues instead of after it',
    noticedBy: limits,
    breaks: mistaking('requeue', ({ maxRequeues }) => ({ maxRequeues: maxRequeues - 1 })),
  },
  { name: 'a requeue never waits', noticedBy: limits, breaks: mistaking('requeue', { backoff: { baseMs: 0, capMs: 0 } }) },
  {
    name: 'the backoff of a requeue ignores its cap',
    noticedBy: limits,
    breaks: mistaking('requeue', ({ backoff }) => ({ backoff: { baseMs: backoff.baseMs, capMs: Infinity } })),
  },
  {
    name: 'the backoff of a requeue doubles once too often',
    noticedBy: limits,
    breaks: mistaking('requeue', ({ backoff }) => ({ backoff: { baseMs: 2 * backoff.baseMs, capMs: backoff.capMs } })),
  },
  {
    name: 'a requeue forgets its reason',
    noticedBy: settle,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'requeue',
        (sound) =>
          function (lease, _, now) {
            return sound.call(this, lease, 'hung', now);
          },
      ),
  },
  {
    name: 'a retry does not wait',
    noticedBy: settle,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'nack',
        (sound) =>
          function (lease, error, disposition, now) {
            return sound.call(this, lease, error, 'dead' in disposition ? disposition : { retryInMs: 0 }, now);
          },
      ),
  },
  { name: 'an ack forgets the last error', noticedBy: settle, breaks: after('ack', (entry) => (entry.ensureDetail().error = null)) },
  { name: 'an ack forgets its result', noticedBy: settle, breaks: after('ack', (entry) => (entry.ensureDetail().result = null)) },
  {
    name: 'the ack of a job whose cancellation was requested is accepted',
    noticedBy: cancel,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'ack',
        (sound) =>
          function (lease, result, now) {
            return { event: sound.call(this, lease, result, now).event, refused: false };
          },
      ),
  },
  {
    name: 'a nack of a job whose cancellation was requested charges an attempt',
    noticedBy: cancel,
    breaks: after('nack', (entry) => {
      if (entry.state === 'cancelled') entry.attempts++;
    }),
  },
  {
    name: 'a release of a job whose cancellation was requested makes it ready',
    noticedBy: cancel,
    breaks: after('release', (entry, table) => {
      if (entry.state !== 'cancelled') return;
      entry.releases++;
      entry.ensureDetail().cancelRequested = false;
      entry.ensureDetail().finishedAt = null;
      table.jobs.shelves.move(entry, 'ready');
    }),
  },
];
