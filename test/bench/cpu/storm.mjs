import { shown } from '../lib/format.mjs';
import { runScript } from '../lib/processes.mjs';
import { atMost, exactly } from '../lib/targets.mjs';

const HANGS = 10_000;
const HB_TIMEOUT_MS = 20;
const GROWTH = 1.1;

/** Hung threads in a row: the pool must stay as it was. */
export async function storm({ quick, progress }) {
  const hangs = quick ? HANGS / 50 : HANGS;
  progress(`storm of ${hangs}`);
  const options = JSON.stringify({ hangs, hbTimeoutMs: HB_TIMEOUT_MS });
  const run = await runScript('cpu-child.mjs', ['storm', options], ['--expose-gc']);
  const { rss_begin_mib, rss_end_mib, most_threads, threads, requeued, seconds } = run;
  return {
    title: 'Hangs in a row',
    about:
      `${hangs.toLocaleString('en-US')} jobs that loop for ever, heartbeat time-out ${HB_TIMEOUT_MS} ms; each costs its thread, and a new one is started. ` +
      'Memory is compared after the first tenth and at the end, each time after a collection.',
    columns: ['hangs', 'seconds', 'RSS MiB after a tenth', 'RSS MiB at the end', 'most handler threads alive'],
    rows: [[hangs, shown(seconds, 0), shown(rss_begin_mib, 1), shown(rss_end_mib, 1), most_threads]],
    targets: [
      exactly('jobs taken from a hung thread', requeued, hangs),
      atMost('most handler threads alive', most_threads, threads, { digits: 0 }),
      atMost('RSS, end / after a tenth', rss_end_mib / rss_begin_mib, GROWTH),
    ],
    runs: run,
  };
}
