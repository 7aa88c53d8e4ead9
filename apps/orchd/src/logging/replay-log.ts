import type { Clock } from '@orchd/storage';
import type { Logger } from './logger.js';

const EVERY_MS = 1000;

/** Tells how far a replay is, once a second, so that a short one is silent and a long one is not a riddle. Sizes are bytes. */
export function replayLog(log: Pick<Logger, 'info'>, clock: Clock): (done: number, total: number) => void {
  let toldAt = clock.monoMs();
  return (done, total) => {
    const now = clock.monoMs();
    if (now - toldAt < EVERY_MS) return;
    toldAt = now;
    log.info({ done, total, percent: Math.floor((100 * done) / Math.max(1, total)) }, 'replaying the log');
  };
}
