import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freshFolder } from '../lib/folders.mjs';
import { shown, withInterval } from '../lib/format.mjs';
import { inTurn } from '../lib/in-turn.mjs';
import { startOrchd } from '../lib/processes.mjs';
import { mean, percentile } from '../lib/statistics.mjs';
import { atLeast, atMost, exactly } from '../lib/targets.mjs';
import { opensslRate } from './openssl.mjs';

const JOBS = 200;
const ROUNDS = 500_000;
const WORKERS = [1, 2, 4, 16];
const OPENSSL_S = 3;
const POLL_MS = 20;
/** What the original has published for these jobs on its two cores, jobs/s. */
const ORIGINAL = { 1: 20.7, 2: 37.7, 4: 39.1, 16: 14.4 };
const PROBE = new URL('./loop-delay.mjs', import.meta.url);

/** The experiment that the original could not explain, over HTTP, with openssl on the same cores in between. */
export async function workers({ work, repeats, quick, progress }) {
  const jobs = quick ? JOBS / 5 : JOBS;
  const seconds = quick ? 1 : OPENSSL_S;
  const variants = {
    openssl: () => opensslRate(seconds),
    'openssl -multi 2': () => opensslRate(seconds, 2),
    ...Object.fromEntries(WORKERS.map((count) => [count, () => run(work, count, jobs)])),
  };
  const runs = await inTurn(repeats, variants, (what) => progress(`cpu, ${what}`));
  const rates = (count) => runs[count].map(({ jobs_s }) => jobs_s);
  const each = (count, of) => rates(count).map((rate, i) => rate / of(i));
  const gain = runs['openssl -multi 2'].map((rate, i) => rate / runs.openssl[i]);
  const all = (name) => WORKERS.flatMap((count) => runs[count].map((one) => one[name]));
  const inGain = each(2, (i) => rates(1)[i]).map((own, i) => own / gain[i]);
  return {
    title: 'Workers and cores',
    about:
      `${jobs} jobs of ${ROUNDS.toLocaleString('en-US')} chained SHA-256 each, in one batch over HTTP, heartbeat time-out 200 ms, a fresh service for each ` +
      `run. openssl: \`openssl speed -bytes 32 -evp sha256\`, alone and with \`-multi 2\`, in turn with the runs; its gain is ${withInterval(gain, 3)}. ` +
      'Delay: how late the event loop of the service came to a timer of 10 ms while the jobs ran.',
    columns: ['workers', 'runs', 'jobs/s', 'of one worker', 'rounds/s of openssl', 'requeued', 'delay p99 ms', 'the original, jobs/s'],
    rows: WORKERS.map((count) => [
      count,
      repeats,
      withInterval(rates(count), 2),
      withInterval(
        each(count, (i) => rates(1)[i]),
        3,
      ),
      withInterval(
        each(count, (i) => runs.openssl[i] / ROUNDS),
        3,
      ),
      runs[count].reduce((sum, { requeued }) => sum + requeued, 0),
      withInterval(
        runs[count].map(({ delay_p99_ms }) => delay_p99_ms),
        2,
      ),
      shown(ORIGINAL[count], 1),
    ]),
    targets: [
      atLeast("2 workers over 1, of openssl's own gain", mean(inGain), 0.95, { digits: 3 }),
      ...[4, 16].map((count) => atLeast(`${count} workers / 2 workers`, mean(each(count, (i) => rates(2)[i])), 0.97, { digits: 3 })),
      exactly(
        'jobs requeued, all runs',
        all('requeued').reduce((sum, value) => sum + value, 0),
        0,
      ),
      atMost('event loop delay, p99 of the worst run', Math.max(...all('delay_p99_ms')), 20, { unit: 'ms' }),
    ],
    runs,
  };
}

async function run(work, count, jobs) {
  const { folder, remove } = freshFolder(work);
  const file = join(folder, 'delays.json');
  const probe = `${PROBE.href}?file=${encodeURIComponent(file)}`;
  const orchd = await startOrchd(['--data-dir', join(folder, 'data'), '--workers', String(count)], 0, ['--import', probe]);
  const job = { type: 'cpu', payload: { rounds: ROUNDS, seed: 'orchd' } };
  try {
    // Threads start and compile once, whatever the number of jobs.
    await batch(orchd.url, Array(2 * count).fill({ ...job, payload: { rounds: ROUNDS / 5 } }));
    const from = Date.now();
    const start = performance.now();
    await batch(orchd.url, Array(jobs).fill(job));
    const seconds = (performance.now() - start) / 1000;
    const until = Date.now();
    const { requeued } = await stats(orchd.url);
    await orchd.stop();
    const delays = JSON.parse(readFileSync(file, 'utf8')).filter(([at]) => at >= from && at <= until);
    return {
      jobs_s: jobs / seconds,
      requeued,
      delay_p99_ms: percentile(
        delays.map(([, late]) => late),
        99,
      ),
    };
  } finally {
    await orchd.stop();
    remove();
  }
}

/** Resolves when the jobs are done. */
async function batch(url, jobs) {
  const before = await stats(url);
  const answer = await fetch(`${url}/jobs/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jobs }),
  });
  if (answer.status !== 201) throw new Error(`the jobs were refused: ${answer.status} ${await answer.text()}`);
  for (;;) {
    const { done, dead } = await stats(url);
    if (dead > before.dead) throw new Error('a job is dead');
    if (done - before.done === jobs.length) return;
    await setTimeout(POLL_MS);
  }
}

async function stats(url) {
  const answer = await fetch(`${url}/stats`);
  return answer.json();
}
