import { withInterval } from '../lib/format.mjs';
import { inTurn } from '../lib/in-turn.mjs';
import { mean } from '../lib/statistics.mjs';
import { below, exactly } from '../lib/targets.mjs';
import { runAgainstOrchd, WORKERS } from './experiment.mjs';
import { PUBLISHED } from './published.mjs';

const JOBS = 1000;
const WORK_MS = 20;
const HANG_PROB = 0.01;
const LIMIT_S = 20;
/** Without the health check every run takes the whole limit. */
const REPEATS_WHEN_OFF = 3;

/** C: what the health check is good for. */
export async function hangs({ work, repeats, quick, progress }) {
  const limitS = quick ? 3 : LIMIT_S;
  const jobs = quick ? JOBS / 2 : JOBS;
  const load = ['--jobs', jobs, '--work-ms', WORK_MS, '--hang-prob', HANG_PROB, '--timeout-s', limitS];
  // Whoever hangs to the end is not waited for.
  const run = (healthCheck) => runAgainstOrchd(work, ['--workers', WORKERS, '--health-check', healthCheck, '--shutdown-grace-ms', 0], load);
  const step = (what) => progress(`C, health check ${what}`);
  const runs = {
    ...(await inTurn(repeats, { on: () => run('on') }, step)),
    ...(await inTurn(Math.min(repeats, REPEATS_WHEN_OFF), { off: () => run('off') }, step)),
  };
  const completion = (name) => runs[name].map(({ completion_pct }) => completion_pct);
  return {
    title: 'C. Health check',
    about:
      `${jobs} jobs of ${WORK_MS} ms, ${100 * HANG_PROB} % of the attempts hang, ${WORKERS} workers, time limit ${limitS} s, heartbeat time-out ` +
      `200 ms. Without the check every run takes the whole limit: at most ${REPEATS_WHEN_OFF} of them.`,
    columns: ['health check', 'runs', 'completed %', 'requeued', 'total s', 'original %', 'its requeued', 'its total s'],
    rows: ['on', 'off'].map((name) => [
      name,
      runs[name].length,
      withInterval(completion(name), 2),
      withInterval(
        runs[name].map(({ requeued }) => requeued),
        1,
      ),
      withInterval(
        runs[name].map(({ total_s }) => total_s),
        2,
      ),
      PUBLISHED.healthCheck[name].completionPct,
      PUBLISHED.healthCheck[name].requeued ?? '',
      PUBLISHED.healthCheck[name].totalS ?? '',
    ]),
    targets: [
      exactly('health check on, completed (worst run)', Math.min(...completion('on')), 100, { unit: '%', digits: 2 }),
      below('health check off, completed', mean(completion('off')), 100, { unit: '%' }),
    ],
    runs,
  };
}
