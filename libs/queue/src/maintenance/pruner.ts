import { setImmediate } from 'node:timers/promises';
import { LIMITS, type PrunePolicy, type StorageAdapter } from '@orchd/storage';
import { PeriodicService, type PeriodicSettings } from './periodic-service.js';

const INTERVAL_MS = 2000;

/** Forgets finished jobs, in steps that let other work through. */
export class Pruner extends PeriodicService {
  protected readonly name = 'pruner';
  protected override readonly jitter = 0.5;

  constructor(
    settings: PeriodicSettings,
    private readonly storage: StorageAdapter,
    private readonly policy: PrunePolicy,
  ) {
    super(settings);
  }

  protected intervalMs(): number {
    return INTERVAL_MS;
  }

  protected async tick(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.storage.prune(this.policy)) === LIMITS.prune) await setImmediate();
  }
}
