import { shown, withInterval } from '../lib/format.mjs';
import { inTurn } from '../lib/in-turn.mjs';
import { runScript } from '../lib/processes.mjs';
import { mean } from '../lib/statistics.mjs';
import { exactly } from '../lib/targets.mjs';

const JOBS = 100;
const WORK_MS = 50;
const THREADS = 16;

/** What of the original's way makes 16 workers slower than one, switched on one after the other. */
export async function fall({ repeats, quick, progress }) {
  const jobs = quick ? JOBS / 2 : JOBS;
  const run = (options) => () => runScript('cpu-child.mjs', ['fall', JSON.stringify({ jobs, workMs: WORK_MS, ...options })]);
  const variants = {
    'threads as cores, beats inside': run({ beats: 'inside' }),
    '16 threads, beats inside': run({ beats: 'inside', threads: THREADS }),
    'threads as cores, beats between': run({ beats: 'between' }),
    '16 threads, beats between': run({ beats: 'between', threads: THREADS }),
  };
  const runs = await inTurn(repeats, variants, (what) => progress(`fall, ${what}`));
  const of = (name, figure) => runs[name].map((one) => one[figure]);
  const names = Object.keys(variants);
  const good = names.slice(0, 3);
  return {
    title: 'Why 16 workers were slower than one',
    about:
      `${jobs} jobs of ${WORK_MS} ms of processor time, 16 workers, heartbeat time-out 200 ms. The original beat between slices of work only, a slice ` +
      'being the job, and gave each worker a thread of the system. Sixteen of them share two cores: 50 ms of work last 400 ms on the clock, the ' +
      'worker is silent meanwhile, is taken for hung, and its job is begun again beside it, which makes all of them slower still. Each of the ' +
      'two changes alone is enough; orchd makes both.',
    columns: ['', 'runs', 'jobs/s', 'taken for hung', 'begun for each done'],
    rows: names.map((name) => [
      name,
      repeats,
      withInterval(of(name, 'jobs_s'), 1),
      withInterval(of(name, 'requeued'), 0),
      shown(mean(of(name, 'starts_per_job')), 2),
    ]),
    targets: [
      exactly(
        'taken for hung where threads are as cores or beats are inside',
        good.flatMap((name) => of(name, 'requeued')).reduce((sum, value) => sum + value, 0),
        0,
      ),
    ],
    runs,
  };
}
