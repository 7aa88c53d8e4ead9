import { shown, withInterval } from '../lib/format.mjs';
import { inTurn } from '../lib/in-turn.mjs';
import { mean } from '../lib/statistics.mjs';
import { atLeast, within } from '../lib/targets.mjs';
import { complete, runAgainstOrchd, WORKERS } from './experiment.mjs';
import { PUBLISHED } from './published.mjs';

const JOBS = 2000;
const WORK_MS = 20;
const FAIL_PROB = 0.2;
const ATTEMPTS = { on: 5, off: 1 };

/** B: what retries are good for. */
export async function retries({ work, repeats, quick, progress }) {
  const load = ['--jobs', quick ? JOBS / 10 : JOBS, '--work-ms', WORK_MS, '--fail-prob', FAIL_PROB];
  const run = async (attempts) => complete(await runAgainstOrchd(work, ['--workers', WORKERS, '--max-attempts', attempts], load));
  const variants = { on: () => run(ATTEMPTS.on), off: () => run(ATTEMPTS.off) };
  const runs = await inTurn(repeats, variants, (what) => progress(`B, retries ${what}`));
  const completion = (name) => runs[name].map(({ completion_pct }) => completion_pct);
  return {
    title: 'B. Retries',
    about:
      `${load[1]} jobs of ${WORK_MS} ms, ${100 * FAIL_PROB} % of the attempts fail, ${WORKERS} workers; on: ${ATTEMPTS.on} attempts, off: one. ` +
      `Ideal is ${shown(100 * (1 - FAIL_PROB ** ATTEMPTS.on), 2)} % and ${shown(100 * (1 - FAIL_PROB), 2)} %.`,
    columns: ['retries', 'runs', 'completed %', 'retried', 'total s', 'original %', 'its retried'],
    rows: ['on', 'off'].map((name) => [
      name,
      runs[name].length,
      withInterval(completion(name), 2),
      withInterval(
        runs[name].map(({ retried }) => retried),
        0,
      ),
      withInterval(
        runs[name].map(({ total_s }) => total_s),
        2,
      ),
      PUBLISHED.retries[name].completionPct,
      PUBLISHED.retries[name].retried ?? '',
    ]),
    targets: [
      atLeast('retries on, completed', mean(completion('on')), 99.9, { unit: '%' }),
      within('retries off, completed', mean(completion('off')), 80, 2, { unit: '%' }),
    ],
    runs,
  };
}
