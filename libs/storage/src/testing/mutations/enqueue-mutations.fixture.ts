import { IncomingJobs } from '../../job-table/incoming-jobs.js';
import { JobTable } from '../../job-table/index.js';
import { dedupe } from '../chapters/dedupe.js';
import { delayed } from '../chapters/delayed.js';
import { enqueue } from '../chapters/enqueue.js';
import type { Mutation } from './sabotage.fixture.js';

export const enqueueMutations: readonly Mutation[] = [
  {
    name: 'a batch with a conflict is half accepted',
    noticedBy: enqueue,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'prepare',
        (sound) =>
          function (jobs, now) {
            try {
              return sound.call(this, jobs, now);
            } catch (error) {
              if (jobs.length > 1) this.commit(sound.call(this, jobs.slice(0, 1), now));
              throw error;
            }
          },
      ),
  },
  {
    name: 'a dedupe key is forgotten when its job is done',
    noticedBy: dedupe,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'ack',
        (sound) =>
          function (lease, result, now) {
            const settlement = sound.call(this, lease, result, now);
            this.jobs.incoming.forgetKey(this.jobs.get(lease.id)!);
            return settlement;
          },
      ),
  },
  {
    name: 'a dedupe key outlives its job',
    noticedBy: dedupe,
    breaks: (sabotage) => sabotage.replace(IncomingJobs, 'forgetKey', () => () => undefined),
  },
  {
    name: 'any two requests with one id or key are the same',
    noticedBy: dedupe,
    breaks: (sabotage) =>
      sabotage.replace(
        IncomingJobs,
        'prepare',
        (sound) =>
          function (jobs, now) {
            return sound.call(
              this,
              jobs.map((job) => ({ ...job, fingerprint: 'same' })),
              now,
            );
          },
      ),
  },
  {
    name: 'dedupe keys are not looked at',
    noticedBy: dedupe,
    breaks: (sabotage) => sabotage.replace(IncomingJobs, 'learnKey', () => () => undefined),
  },
  {
    name: 'an instant in the past is waited for',
    noticedBy: delayed,
    breaks: (sabotage) =>
      sabotage.replace(
        JobTable,
        'prepare',
        (sound) =>
          function (jobs, now) {
            return sound.call(
              this,
              jobs.map((job) => (job.runAt !== null && job.runAt < now.wall ? { ...job, runAt: now.wall + 1 } : job)),
              now,
            );
          },
      ),
  },
];
