import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { freshFolder } from '../lib/folders.mjs';
import { withInterval } from '../lib/format.mjs';
import { runLoadgen, startOrchd } from '../lib/processes.mjs';
import { exactly } from '../lib/targets.mjs';
import { CLIENTS, WORKERS } from './experiment.mjs';
import { PUBLISHED } from './published.mjs';

const JOBS = 3000;
const WORK_MS = 30;
const LOOK_MS = 2;

/** kill -9 in the middle of the submits, a restart on the same folder and port, and a load generator that goes on. */
export async function crash({ work, repeats, quick, progress }) {
  const jobs = quick ? JOBS / 3 : JOBS;
  const killAfter = Math.round((PUBLISHED.crash.acceptedBefore * jobs) / JOBS);
  const runs = [];
  for (let round = 0; round < repeats; round++) {
    progress(`kill -9, ${round + 1} of ${repeats}`);
    runs.push(await crashOnce(work, jobs, killAfter));
  }
  const all = (name) => runs.map((run) => run[name]);
  const total = (name) => all(name).reduce((sum, value) => sum + value, 0);
  return {
    title: 'kill -9',
    about:
      `${jobs} jobs of ${WORK_MS} ms, ${CLIENTS} clients, ${WORKERS} workers, fsync always. The service is killed when about ${killAfter} jobs are ` +
      'accepted, and started again on the same folder and port; afterwards the load generator reads every job it was promised.',
    columns: ['', 'runs', 'accepted before the kill', 'done', 'lost', 'requeued', 'ready again after s', 'total s'],
    rows: [
      [
        'orchd',
        repeats,
        ...['accepted_before', 'done', 'lost', 'requeued'].map((name) => withInterval(all(name), 0)),
        withInterval(all('ready_again_s'), 2),
        withInterval(all('total_s'), 2),
      ],
      ['original', 1, PUBLISHED.crash.acceptedBefore, PUBLISHED.crash.done, PUBLISHED.crash.lost, '', '', ''],
    ],
    targets: [exactly('jobs lost, all runs', total('lost'), 0), exactly('jobs done, all runs', total('done'), jobs * repeats)],
    runs,
  };
}

async function crashOnce(work, jobs, killAfter) {
  const { folder, remove } = freshFolder(work);
  const port = await freePort();
  const flags = ['--data-dir', folder, '--workers', String(WORKERS)];
  let orchd = await startOrchd(flags, port);
  try {
    const load = runLoadgen(orchd.url, ['--clients', CLIENTS, '--jobs', jobs, '--work-ms', WORK_MS]);
    const accepted = await untilSubmitted(orchd.url, killAfter);
    await orchd.stop('SIGKILL');
    const killedAt = performance.now();
    orchd = await startOrchd(flags, port);
    const readyAgainS = (performance.now() - killedAt) / 1000;
    const result = await load;
    // What is neither done nor dead was promised and is gone, or was never finished: the load generator tells which, both are a loss.
    return { ...result, accepted_before: accepted, ready_again_s: readyAgainS, lost: jobs - result.done - result.dead };
  } finally {
    await orchd.stop();
    remove();
  }
}

async function untilSubmitted(url, wanted) {
  for (;;) {
    const { submitted } = await fetch(`${url}/stats`).then((response) => response.json());
    if (submitted >= wanted) return submitted;
    await setTimeout(LOOK_MS);
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
