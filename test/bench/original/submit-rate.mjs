import { freshFolder } from '../lib/folders.mjs';
import { shown, withInterval } from '../lib/format.mjs';
import { inTurn } from '../lib/in-turn.mjs';
import { runScript, startOrchd, startServer } from '../lib/processes.mjs';
import { median } from '../lib/statistics.mjs';
import { atLeast } from '../lib/targets.mjs';
import { CLIENTS } from './experiment.mjs';

/** So long a client runs before it counts, and then while it counts; a server is warm after some thousand requests. */
const WARM_UP_S = 1;
const COUNTED_S = 3;
const NAMES = {
  always: 'orchd, log, fsync always',
  memory: 'orchd, memory',
  validate: 'Nest + Fastify, the same validation, nothing behind it',
};

/** How many jobs a second can be accepted, beside what the validation of the same requests alone allows. */
export async function submitRate({ work, repeats, quick, progress }) {
  const times = quick ? [WARM_UP_S / 2, COUNTED_S / 6] : [WARM_UP_S, COUNTED_S];
  const variants = {
    always: () => rateOfOrchd(work, ['--storage', 'wal', '--fsync', 'always'], times),
    memory: () => rateOfOrchd(work, ['--storage', 'memory'], times),
    validate: async () => rateOf(await startServer('validate-only-server.mjs'), times),
  };
  const runs = await inTurn(repeats, variants, (what) => progress(`POST /jobs, ${what}`));
  const typical = (name) => median(runs[name]);
  return {
    title: 'POST /jobs',
    about:
      `${CLIENTS} keep-alive clients in a process of their own submit as fast as they can, ${times[0]} s to warm up and ${times[1]} s that count; ` +
      'role api, so no job runs meanwhile; the servers in turn, fresh each time. The last one has none of the hooks, limits and error shapes.',
    columns: ['server', 'runs', 'accepted/s (median)', 'mean'],
    rows: Object.keys(variants).map((name) => [NAMES[name], repeats, shown(typical(name), 0), withInterval(runs[name], 0)]),
    targets: [
      atLeast('fsync always / memory (medians)', typical('always') / typical('memory'), 0.85),
      atLeast('fsync always / validation only (medians)', typical('always') / typical('validate'), 0.8),
    ],
    runs,
  };
}

async function rateOfOrchd(work, flags, times) {
  const { folder, remove } = freshFolder(work);
  try {
    return await rateOf(await startOrchd(['--data-dir', folder, '--role', 'api', ...flags]), times);
  } finally {
    remove();
  }
}

async function rateOf(server, times) {
  try {
    const { per_second } = await runScript('post-client.mjs', [`${server.url}/jobs`, ...[CLIENTS, ...times].map(String)]);
    return Math.round(per_second);
  } finally {
    await server.stop();
  }
}
