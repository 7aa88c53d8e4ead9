import { shown, withInterval } from '../lib/format.mjs';
import { runScript } from '../lib/processes.mjs';
import { mean } from '../lib/statistics.mjs';
import { atMost } from '../lib/targets.mjs';

const ROUND_TRIPS = 20_000;

/** What a job pays for a thread. */
export async function hop({ repeats, quick, progress }) {
  const trips = quick ? ROUND_TRIPS / 10 : ROUND_TRIPS;
  const runs = [];
  for (let round = 0; round < repeats; round++) {
    progress(`hop, ${round + 1} of ${repeats}`);
    runs.push(await runScript('cpu-child.mjs', ['hop', JSON.stringify({ trips })]));
  }
  const of = (name) => runs.map((one) => one[name]);
  const ratios = runs.map(({ hop_us, bare_us }) => hop_us / bare_us);
  return {
    title: 'A thread hop',
    about:
      `${trips.toLocaleString('en-US')} round trips, one at a time, the two in turn by the hundred. The hop: a delivery handed to the runner of threads ` +
      'until its result is back. Bare: the same job posted to a worker thread that posts a result back, and nothing else. Both on one core.',
    columns: ['', 'runs', 'median us'],
    rows: [
      ['the hop', repeats, withInterval(of('hop_us'), 1)],
      ['bare round trip', repeats, withInterval(of('bare_us'), 1)],
      ['ratio', repeats, shown(mean(ratios), 3)],
    ],
    targets: [atMost('hop / bare round trip', mean(ratios), 1.3, { digits: 3 })],
    runs,
  };
}
