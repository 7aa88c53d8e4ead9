import { performance } from 'node:perf_hooks';
import { openQueue, payload, TYPE } from '../in-process/jobs.mjs';
import { freshFolder } from '../lib/folders.mjs';
import { shown } from '../lib/format.mjs';
import { atMost, exactly } from '../lib/targets.mjs';
import { LIVE_MULTIPLE, SEGMENTS_BESIDE, watchDisk } from './disk-watch.mjs';

const MB = 2 ** 20;
/** Small, so that the storm fills some. */
const SEGMENT_BYTES = 4 * MB;
const ATTEMPTS = 100_000;
const JOBS = 1000;
const AT_ONCE = 100;
const ANCIENT_MS = 100 * 86_400_000;
const REASON = 'connect ECONNREFUSED 192.0.2.17:443, after 3 tries of 10 s each; the next one will be made by the queue';

/** Child: a thousand jobs fail again and again at once, beside one that is delayed. */
export async function measure({ folder, attempts }) {
  const { storage } = await openQueue({ storage: 'wal', dataDir: folder, fsync: 'always', walSegmentBytes: SEGMENT_BYTES });
  const job = (n) => ({ queue: 'default', type: TYPE, payload: JSON.stringify(payload(n)), maxAttempts: 1000 });
  await storage.enqueue([{ ...job(0), id: 'ancient', delayMs: ANCIENT_MS }]);
  await storage.enqueue(Array.from({ length: JOBS }, (_, n) => job(n)));
  const disk = watchDisk(storage, folder, SEGMENT_BYTES);
  const start = performance.now();
  let failed = 0;
  while (failed < attempts) {
    const claimed = await storage.claim({ queue: 'default', limit: AT_ONCE, owner: 'bench', leaseMs: 60_000 });
    await Promise.all(claimed.map((lease) => storage.nack(lease, { code: 'failed', message: REASON }, { retryInMs: 0 })));
    failed += claimed.length;
  }
  const seconds = (performance.now() - start) / 1000;
  const seen = disk.stop();
  const { state } = await storage.get('ancient');
  const { segments } = storage.health().figures;
  await storage.close();
  return { attempts: failed, per_second: failed / seconds, ancient: state, segments, disk: seen };
}

/** Whether attempts that leave nothing behind but a counter fill the disk. */
export async function retryStorm({ work, quick, child, progress }) {
  progress('retry storm');
  const { folder, remove } = freshFolder(work);
  const run = await child('retry-storm', { folder, attempts: quick ? ATTEMPTS / 10 : ATTEMPTS });
  remove();
  return {
    title: 'A storm of retries',
    about: `${shown(JOBS, 0)} jobs fail, ${AT_ONCE} at a time, each at once again, beside one that is delayed by 100 days. Segments of ${shown(SEGMENT_BYTES / MB, 0)} MB.`,
    columns: ['attempts', 'attempts/s', 'largest folder MB', 'live MB', 'segments above 2.5 x live'],
    rows: [
      [
        shown(run.attempts, 0),
        shown(run.per_second, 0),
        shown(run.disk.max_bytes / MB, 2),
        shown(run.disk.max_live_bytes / MB, 2),
        shown(run.disk.max_segments_above, 2),
      ],
    ],
    targets: [
      atMost(`folder - ${LIVE_MULTIPLE} x live`, run.disk.max_segments_above, SEGMENTS_BESIDE, { unit: 'segments' }),
      exactly('the ancient job still delayed', run.ancient === 'delayed' ? 1 : 0, 1),
    ],
    runs: run,
  };
}
