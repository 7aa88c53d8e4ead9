import { shown } from '../lib/format.mjs';
import { runScript } from '../lib/processes.mjs';
import { percentile } from '../lib/statistics.mjs';
import { atMost, exactly } from '../lib/targets.mjs';

const HANGS = 200;
const HB_TIMEOUT_MS = 100;
const SLACK_MS = 20;

/** How soon a hung thread is found, and how soon it is gone. */
export async function hang({ quick, progress }) {
  progress('hang');
  const hangs = quick ? HANGS / 5 : HANGS;
  const { found_ms, gone_ms, threads_left } = await runScript('cpu-child.mjs', [
    'hang',
    JSON.stringify({ hangs, hbTimeoutMs: HB_TIMEOUT_MS }),
  ]);
  const line = (name, values) => [name, values.length, ...[50, 99, 100].map((rank) => shown(percentile(values, rank), 1))];
  return {
    title: 'A hung thread',
    about:
      `Jobs that beat once and then loop for ever, one at a time, heartbeat time-out ${HB_TIMEOUT_MS} ms. Found: from the last beat, by the clock of ` +
      'the thread, to the call that gives the job to another worker. Gone: from that call to the end of the thread, which uses the cores until then.',
    columns: ['', 'hangs', 'p50 ms', 'p99 ms', 'worst ms'],
    rows: [line('found', found_ms), line('gone', gone_ms)],
    targets: [
      atMost('found, p99', percentile(found_ms, 99), 1.25 * HB_TIMEOUT_MS + SLACK_MS, { unit: 'ms', digits: 1 }),
      exactly('threads that are left', threads_left, 0),
    ],
    runs: { found_ms, gone_ms },
  };
}
