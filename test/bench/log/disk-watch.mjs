import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const INTERVAL_MS = 100;

/** Bytes of all files of a folder, spares and all; files may come and go meanwhile. */
export function folderBytes(folder) {
  let sum = 0;
  for (const name of readdirSync(folder)) sum += statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  return sum;
}

/**
 * Compares what a log takes on disk with what lives in it, ten times a second. After live data falls the log has ten seconds to follow: it is
 * held against the most that lived within them.
 *
 * @returns `stop()`, which says what was seen
 */
export function watchDisk(storage, folder, segmentBytes) {
  const seen = { samples: 0, max_bytes: 0, max_live_bytes: 0, max_segments_above: 0 };
  const lately = [];
  const look = () => {
    const bytes = folderBytes(folder);
    lately.push(storage.health().figures.liveBytes);
    if (lately.length > FOLLOWS_WITHIN_MS / INTERVAL_MS) lately.shift();
    const live = Math.max(...lately);
    seen.samples++;
    seen.max_bytes = Math.max(seen.max_bytes, bytes);
    seen.max_live_bytes = Math.max(seen.max_live_bytes, live);
    seen.max_segments_above = Math.max(seen.max_segments_above, (bytes - LIVE_MULTIPLE * live) / segmentBytes);
  };
  const timer = setInterval(look, INTERVAL_MS);
  return {
    stop() {
      clearInterval(timer);
      return seen;
    },
  };
}

/** Design: disk <= 2.5 x live data + 3 segments. */
export const LIVE_MULTIPLE = 2.5;
export const SEGMENTS_BESIDE = 3;
const FOLLOWS_WITHIN_MS = 10_000;
