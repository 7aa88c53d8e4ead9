import type { StorageAdapter } from '@orchd/storage';
import { PeriodicService, type PeriodicSettings } from './periodic-service.js';

const INTERVAL_MS = 500;
const STEP = 100;

/**
 * Makes the jobs of vanished processes ready again, on storages that several processes share. A process that was asleep itself prolongs
 * its own leases before it judges others, or it would reap jobs that its own workers are about to finish (R8).
 */
export class Reaper extends PeriodicService {
  protected readonly name = 'reaper';
  protected override readonly jitter = 0.2;

  constructor(
    settings: PeriodicSettings,
    private readonly storage: StorageAdapter,
    private readonly extendOwn: () => Promise<void>,
    private readonly reaped: (jobs: number) => void,
  ) {
    super(settings);
  }

  protected intervalMs(): number {
    return INTERVAL_MS;
  }

  protected async tick(signal: AbortSignal, lateMs: number): Promise<void> {
    if (lateMs >= INTERVAL_MS) await this.extendOwn();
    while (!signal.aborted) {
      const jobs = await this.storage.reap(STEP);
      if (jobs > 0) this.reaped(jobs);
      if (jobs < STEP) return;
    }
  }
}
