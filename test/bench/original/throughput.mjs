import { shown, withInterval } from '../lib/format.mjs';
import { inTurn } from '../lib/in-turn.mjs';
import { runLoadgen, startServer } from '../lib/processes.mjs';
import { mean } from '../lib/statistics.mjs';
import { atLeast } from '../lib/targets.mjs';
import { CLIENTS, complete, runAgainstOrchd } from './experiment.mjs';
import { PUBLISHED } from './published.mjs';

const WORK_MS = 20;
const JOBS = 2000;
/** One worker needs 40 s for 2000 jobs. */
const JOBS_OF_ONE = 500;
const REPEATS_OF_ONE = 3;
/** Of the bare server, in the same run. */
const RATIO_TARGETS = { 16: 0.97, 64: 0.95 };

/** A: jobs/s by number of workers, each run beside one of a bare server. */
export async function throughput({ work, repeats, quick, progress }) {
  const rows = [];
  const targets = [];
  const runs = {};
  for (const workers of [1, 4, 16, 64]) {
    const rounds = workers === 1 ? Math.min(repeats, REPEATS_OF_ONE) : repeats;
    const jobs = (workers === 1 ? JOBS_OF_ONE : JOBS) / (quick ? 10 : 1);
    const pair = await measurePair({ work, workers, jobs, rounds, progress });
    runs[workers] = pair;
    rows.push(row(workers, jobs, rounds, pair));
    targets.push(...targetsOf(workers, pair));
  }
  return {
    title: 'A. Throughput by number of workers',
    about:
      `Jobs of ${WORK_MS} ms, ${CLIENTS} clients, write-ahead log with an fsync before each answer, a fresh service for each run. The bare ` +
      'server is a Node HTTP server with timers and an array; the same load generator drives both, in turn. Ideal is workers / work time. ' +
      `With one worker ${JOBS_OF_ONE} jobs and at most ${REPEATS_OF_ONE} repeats, since 2000 take 40 s.`,
    columns: ['workers', 'jobs', 'runs', 'orchd jobs/s', '% of ideal', 'bare jobs/s', 'orchd / bare', 'original jobs/s', 'its % of ideal'],
    rows,
    targets,
    runs,
  };
}

async function measurePair({ work, workers, jobs, rounds, progress }) {
  const load = ['--jobs', jobs, '--work-ms', WORK_MS];
  const variants = {
    orchd: async () => complete(await runAgainstOrchd(work, ['--workers', workers], load)).throughput_jobs_s,
    bare: () => runAgainstBare(workers, load),
  };
  return inTurn(rounds, variants, (what) => progress(`A, ${workers} workers: ${what}`));
}

async function runAgainstBare(workers, load) {
  const bare = await startServer('bare-server.mjs', [String(workers)]);
  try {
    return complete(await runLoadgen(bare.url, ['--clients', CLIENTS, ...load])).throughput_jobs_s;
  } finally {
    await bare.stop();
  }
}

const ideal = (workers) => (workers * 1000) / WORK_MS;
const percentOfIdeal = (jobsPerS, workers) => (100 * jobsPerS) / ideal(workers);
const ratios = ({ orchd, bare }) => orchd.map((value, i) => value / bare[i]);

function row(workers, jobs, rounds, pair) {
  const published = PUBLISHED.throughput[workers];
  return [
    workers,
    jobs,
    rounds,
    withInterval(pair.orchd, 1),
    shown(percentOfIdeal(mean(pair.orchd), workers), 1),
    withInterval(pair.bare, 1),
    withInterval(ratios(pair), 3),
    shown(published, 1),
    shown(percentOfIdeal(published, workers), 1),
  ];
}

function targetsOf(workers, pair) {
  const ratio = RATIO_TARGETS[workers];
  if (ratio === undefined) return [];
  const original = percentOfIdeal(PUBLISHED.throughput[workers], workers);
  return [
    atLeast(`${workers} workers, orchd / bare`, mean(ratios(pair)), ratio, { digits: 3 }),
    atLeast(`${workers} workers, of ideal, against the original's`, percentOfIdeal(mean(pair.orchd), workers), original, {
      unit: '%',
      digits: 1,
    }),
  ];
}
