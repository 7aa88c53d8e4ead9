import type { MovedJob } from '../../contract/index.js';
import { IncomingJobs } from '../../job-table/incoming-jobs.js';
import { JobTable } from '../../job-table/index.js';
import { moving } from '../chapters/moving.js';
import type { Mutation } from './sabotage.fixture.js';

/** Jobs come in changed. */
function arriving(name: string, change: (job: MovedJob) => Partial<MovedJob>): Mutation {
  return {
    name,
    noticedBy: moving,
    walk: false,
    breaks: (sabotage) =>
      sabotage.replace(
        IncomingJobs,
        'prepareImport',
        (sound) =>
          function (jobs, now) {
            const changed = jobs.map((job) => ({ ...job, ...change(job) }));
            return sound.call(this, changed, now);
          },
      ),
  };
}

/** Of the way from one storage to another. */
export const movingMutations: readonly Mutation[] = [
  arriving('a moved job begins at epoch 0 again', () => ({ epoch: 0 })),
  arriving('a moved job is another request', () => ({ fingerprint: null })),
  arriving('a moved job loses its dedupe key', () => ({ dedupeKey: null })),
  arriving('a moved delay begins again by the wall clock', () => ({ delayMs: null })),
  arriving('a moved job has just finished', ({ finishedForMs }) => ({ finishedForMs: finishedForMs === null ? null : 0 })),
  arriving('a moved job forgets what it told', () => ({ progress: null, log: [] })),
  {
    name: 'the epoch floor stays behind',
    noticedBy: moving,
    walk: false,
    breaks: (sabotage) => sabotage.replace(JobTable, 'raiseEpochFloor', () => () => undefined),
  },
  {
    name: 'moved jobs come in the other way round',
    noticedBy: moving,
    walk: false,
    breaks: (sabotage) =>
      sabotage.replace(
        IncomingJobs,
        'prepareImport',
        (sound) =>
          function (jobs, now) {
            const { outcomes, fresh } = sound.call(this, jobs, now);
            return { outcomes, fresh: [...fresh].reverse() };
          },
      ),
  },
];
