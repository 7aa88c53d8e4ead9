import { freshFolder } from '../lib/folders.mjs';
import { shown, withInterval } from '../lib/format.mjs';
import { inTurn } from '../lib/in-turn.mjs';
import { runScript, startOrchd } from '../lib/processes.mjs';
import { mean } from '../lib/statistics.mjs';
import { atMost } from '../lib/targets.mjs';

const CLIENTS = 16;
const WARM_UP_S = 3;
const COUNTED_S = 20;
const SEGMENT_BYTES = 2 ** 20;
const NO_OP = JSON.stringify({ work_ms: 0 });
const MOST = 2;
const KEEP_ALL = ['--keep-finished', '0', '--keep-finished-ms', '0'];
const VARIANTS = {
  cleaning: ['--keep-finished', '1000'],
  // What is kept counts as live: there is nothing to clean.
  not: KEEP_ALL,
};

/** Whether a client feels that the log is being cleaned. */
export async function postLatency({ work, repeats, quick, progress }) {
  const seconds = quick ? COUNTED_S / 4 : COUNTED_S;
  const once = async (flags) => {
    const { folder, remove } = freshFolder(work);
    const orchd = await startOrchd(['--data-dir', folder, '--workers', '64', '--wal-segment-bytes', String(SEGMENT_BYTES), ...flags]);
    try {
      const result = await runScript('post-client.mjs', [`${orchd.url}/jobs`, String(CLIENTS), String(WARM_UP_S), String(seconds), NO_OP]);
      const { storage } = await (await fetch(`${orchd.url}/stats`)).json();
      return { ...result, segments: storage.segments };
    } finally {
      await orchd.stop();
      remove();
    }
  };
  const variants = Object.fromEntries(Object.entries(VARIANTS).map(([name, flags]) => [name, () => once(flags)]));
  const runs = await inTurn(repeats, variants, (what) => progress(`POST /jobs, ${what}`));
  const all = (name, figure) => runs[name].map((run) => run[figure]);
  const ratios = all('cleaning', 'p99_ms').map((value, i) => value / runs.not[i].p99_ms);
  const row = (title, name) => [
    title,
    repeats,
    ...['p50_ms', 'p99_ms', 'max_ms'].map((figure) => withInterval(all(name, figure), 2)),
    withInterval(all(name, 'per_second'), 0),
    withInterval(all(name, 'segments'), 0),
  ];
  return {
    title: 'POST /jobs while the log is cleaned',
    about:
      `${CLIENTS} clients over HTTP, one request at a time each, no-op jobs, 64 workers, fsync always, segments of 1 MB; ${shown(seconds, 0)} s after ` +
      `${WARM_UP_S} s to warm up, in turn. The service forgets all but the last 1,000 finished jobs, or none: then nothing is forgotten or cleaned. ms.`,
    columns: ['', 'runs', 'p50', 'p99', 'max', 'accepted/s', 'segments at the end'],
    rows: [row('cleaning', 'cleaning'), row('not cleaning', 'not')],
    targets: [atMost('p99 while cleaning / without', mean(ratios), MOST)],
    runs,
  };
}
