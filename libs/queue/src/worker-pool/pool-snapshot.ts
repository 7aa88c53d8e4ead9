import type { PoolCounters } from './pool-counters.js';
import type { Workers } from './workers.js';

export interface WorkerFigures {
  readonly configured: number;
  /** Running, and not silent for longer than its heartbeat time-out. 0 before the start and while shutting down. */
  readonly healthy: number;
  readonly busy: number;
  /** Workers whose slot was given to a new one, since start. */
  readonly replaced: number;
  /** Handlers left alone that have not come back. */
  readonly zombies: number;
}

export interface PoolSnapshot {
  readonly workers: WorkerFigures;
  readonly retried: number;
  readonly requeued: number;
  readonly staleRejected: number;
}

export function snapshotOf(workers: Workers, counters: PoolCounters, running: boolean, nowMs: number): PoolSnapshot {
  const { retried, requeued, staleRejected, replaced, zombies } = counters;
  const busy = workers.busy();
  const silent = busy.filter(({ delivery }) => delivery!.isSilent(nowMs)).length;
  const healthy = running ? workers.size - silent : 0;
  return { workers: { configured: workers.size, healthy, busy: busy.length, replaced, zombies }, retried, requeued, staleRejected };
}
