import { shown, withInterval } from '../lib/format.mjs';
import { inTurn } from '../lib/in-turn.mjs';
import { mean, median } from '../lib/statistics.mjs';
import { atMost } from '../lib/targets.mjs';
import { CLIENTS, complete, runAgainstOrchd, WORKERS } from './experiment.mjs';
import { PUBLISHED } from './published.mjs';

const JOBS = 2000;
const WORK_MS = 20;
/** A submit phase is short, so it takes more of them to see a difference. */
const REPEATS_AT_LEAST = 9;
const STORAGES = {
  memory: ['--storage', 'memory'],
  never: ['--storage', 'wal', '--fsync', 'never'],
  always: ['--storage', 'wal', '--fsync', 'always'],
};
const NAMES = { memory: 'memory', never: 'log, fsync never', always: 'log, fsync always' };
const ITS_NAMES = { memory: 'none', never: 'log', always: 'log, fsync each' };

/** What an fsync before each answer costs those who submit. */
export async function durability({ work, repeats, quick, progress }) {
  const jobs = quick ? JOBS / 4 : JOBS;
  const rounds = quick ? repeats : Math.max(repeats, REPEATS_AT_LEAST);
  const load = ['--jobs', jobs, '--work-ms', WORK_MS];
  const variants = Object.fromEntries(
    Object.entries(STORAGES).map(([name, flags]) => [
      name,
      async () => complete(await runAgainstOrchd(work, ['--workers', WORKERS, ...flags], load)),
    ]),
  );
  const runs = await inTurn(rounds, variants, (what) => progress(`durability, ${what}`));
  const submit = (name) => runs[name].map(({ submit_s }) => submit_s);
  const total = (name) => runs[name].map(({ total_s }) => total_s);
  const ratio = (figure) => figure(submit('always')) / figure(submit('memory'));
  return {
    title: 'Durability',
    about:
      `The submit phase of ${jobs} jobs by ${CLIENTS} clients, while ${WORKERS} workers do jobs of ${WORK_MS} ms; the storages in turn, a fresh ` +
      'service for each run.',
    columns: ['storage', 'runs', 'submit s', 'median', 'total s', 'the original', 'its submit s', 'its total s'],
    rows: Object.keys(STORAGES).map((name) => [
      NAMES[name],
      rounds,
      withInterval(submit(name), 3),
      shown(median(submit(name)), 3),
      withInterval(total(name), 2),
      ITS_NAMES[name],
      shown(PUBLISHED.durability[name].submitS, 2),
      shown(PUBLISHED.durability[name].totalS, 2),
    ]),
    targets: [
      atMost('submit, fsync always / memory (medians)', ratio(median), 1.25),
      atMost('submit, fsync always / memory (means)', ratio(mean), 1.25),
    ],
    runs,
  };
}
