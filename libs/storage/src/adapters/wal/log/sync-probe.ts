import type { Clock } from '../../../contract/clock.js';
import type { OpenFile } from './file-system.js';
import type { Warn } from './repair.js';
import type { SyncTimes } from './sync-times.js';

const SYNCS = 20;
const BUDGET_MS = 100;
/** No disk is as fast; what answers sooner has not looked at one (tmpfs, a volume mounted without barriers). */
const SUSPICIOUS_MS = 0.02;
/** A blocking sync is only tried where an ordinary one has just shown that it will not block for long. */
const QUICK_MS = 1;
const PAGE = Buffer.alloc(4096);

/** Times up to 20 syncs of a page of zeroes at `offset`, and warns where they are too fast to be true. */
export async function probeSyncs(file: OpenFile, offset: number, times: SyncTimes, clock: Clock, warn: Warn): Promise<void> {
  const start = clock.monoMs();
  for (let n = 0; n < SYNCS && clock.monoMs() - start < BUDGET_MS; n++) {
    await file.write(PAGE, PAGE.length, offset);
    const before = clock.monoMs();
    await file.sync();
    times.add(clock.monoMs() - before);
  }
  const { p50Ms } = times.percentiles();
  if (p50Ms > QUICK_MS) return;
  await file.write(PAGE, PAGE.length, offset);
  const blockingMs = file.timeSync();
  if (blockingMs >= SUSPICIOUS_MS) return;
  warn('The disk does not sync: what it acknowledges may be lost in a power cut.', { fdatasyncMs: blockingMs });
}
