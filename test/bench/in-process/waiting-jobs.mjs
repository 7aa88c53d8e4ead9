import { setTimeout } from 'node:timers/promises';
import { freshFolder } from '../lib/folders.mjs';
import { shown, withInterval } from '../lib/format.mjs';
import { mean } from '../lib/statistics.mjs';
import { atMost } from '../lib/targets.mjs';
import { openQueue, payload, preload } from './jobs.mjs';

const SIZES = [200_000, 1_000_000];
/** Ms until a flush, the mark after it and their buffers are over. */
const SETTLED_MS = 300;
/** What each size must keep to; MB are 2^20 bytes. */
const LIMITS = { [SIZES[0]]: { replayS: 2, bytesPerJob: 500 }, [SIZES[1]]: { replayS: 5, rssMb: 800 } };
const MB = 2 ** 20;

/** Child (`--expose-gc`): fills a folder with waiting jobs and says what one costs in memory, beyond the text of its payload. */
export async function fill({ folder, jobs }) {
  const { storage, queue } = await openQueue({ storage: 'wal', dataDir: folder, fsync: 'always' });
  const before = await settledBytes();
  await preload(queue, jobs);
  const after = await settledBytes();
  const payloadBytes = Array.from({ length: jobs }, (_, n) => JSON.stringify(payload(n)).length).reduce((sum, bytes) => sum + bytes, 0);
  await storage.close();
  return { bytes_per_job: (after - before - payloadBytes) / jobs };
}

async function settledBytes() {
  await setTimeout(SETTLED_MS);
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Child: opens the folder, which replays its log. */
export async function replay({ folder, jobs }) {
  const start = performance.now();
  const { storage, queue } = await openQueue({ storage: 'wal', dataDir: folder, fsync: 'always' });
  const seconds = (performance.now() - start) / 1000;
  const rss = process.memoryUsage.rss();
  const peakRss = process.resourceUsage().maxRSS * 1024;
  const { counts } = await queue.stats();
  if (counts.ready !== jobs) throw new Error(`${counts.ready} of ${jobs} jobs are there again`);
  await storage.close();
  return { seconds, rss_mb: rss / MB, peak_rss_mb: peakRss / MB };
}

/** What waiting jobs cost: memory while the process lives, time when it starts. */
export async function waitingJobs({ work, repeats, quick, child, progress }) {
  const rows = [];
  const targets = [];
  const runs = {};
  for (const size of SIZES) {
    const jobs = quick ? size / 10 : size;
    const { folder, remove } = freshFolder(work);
    progress(`waiting jobs, fill ${jobs}`);
    const { bytes_per_job: bytesPerJob } = await child('fill', { folder, jobs }, ['--expose-gc']);
    const replays = [];
    for (let round = 0; round < repeats; round++) {
      progress(`waiting jobs, replay ${jobs}, ${round + 1} of ${repeats}`);
      replays.push(await child('replay', { folder, jobs }));
    }
    remove();
    const all = (name) => replays.map((run) => run[name]);
    const seconds = mean(all('seconds'));
    rows.push([
      shown(jobs, 0),
      shown(bytesPerJob, 0),
      repeats,
      withInterval(all('seconds'), 2),
      shown(jobs / seconds, 0),
      withInterval(all('rss_mb'), 0),
      withInterval(all('peak_rss_mb'), 0),
    ]);
    targets.push(...targetsOf(size, jobs, bytesPerJob, seconds, Math.max(...all('peak_rss_mb'))));
    runs[jobs] = { bytes_per_job: bytesPerJob, replays };
  }
  return {
    title: 'Waiting jobs',
    about:
      'Unfinished jobs with a payload of about 100 bytes. Memory: heapUsed + external after a full collection, less the bytes of the payload ' +
      'texts. Replay: from open() until jobs can be claimed, a fresh process for each; MB are 2^20 bytes.',
    columns: ['jobs', 'bytes per job', 'replays', 'replay s', 'jobs/s', 'RSS MB', 'peak RSS MB'],
    rows,
    targets,
    runs,
  };
}

function targetsOf(size, jobs, bytesPerJob, seconds, peakRssMb) {
  const { replayS, bytesPerJob: maxBytes, rssMb } = LIMITS[size];
  const name = `${shown(jobs, 0)} waiting`;
  return [
    ...(maxBytes ? [atMost(`${name}, memory per job`, bytesPerJob, maxBytes, { unit: 'bytes', digits: 0 })] : []),
    atMost(`${name}, replay`, seconds, replayS, { unit: 's' }),
    ...(rssMb ? [atMost(`${name}, peak RSS of the replay`, peakRssMb, rssMb, { unit: 'MB', digits: 0 })] : []),
  ];
}
