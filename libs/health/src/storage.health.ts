import { Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { StorageAdapter, type StorageHealth } from '@orchd/storage';

/** Up while an enqueue would be taken. Reads the adapter's snapshot, so it answers at once whatever the backend does. */
@Injectable()
export class StorageHealthIndicator {
  constructor(
    private readonly storage: StorageAdapter,
    private readonly indicators: HealthIndicatorService,
  ) {}

  check<const Key extends string = 'storage'>(key: Key = 'storage' as Key): HealthIndicatorResult<Key> {
    const indicator = this.indicators.check<Key>(key);
    const { kind, durability } = this.storage.capabilities;
    let health: StorageHealth;
    try {
      health = this.storage.health();
    } catch (error) {
      return indicator.down({ kind, message: error instanceof Error ? error.message : String(error) });
    }
    const { state, writable, reason, replay } = health;
    if (writable) return indicator.up({ kind, durability, state });
    return indicator.down({ kind, durability, state, message: reason ?? 'not writable', ...(replay && { replay }) });
  }
}
