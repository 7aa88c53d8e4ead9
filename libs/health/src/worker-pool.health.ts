import { Injectable, Optional } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { QueueService, WorkerPool } from '@orchd/queue';

/** Up while this process takes jobs and, where it has workers, at least one of them is healthy. */
@Injectable()
export class WorkerPoolHealthIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    @Optional() private readonly queue?: QueueService,
    @Optional() private readonly pool?: WorkerPool,
  ) {}

  check<const Key extends string = 'workers'>(key: Key = 'workers' as Key): HealthIndicatorResult<Key> {
    const indicator = this.indicators.check<Key>(key);
    if (this.queue?.draining || this.pool?.draining) return indicator.down({ message: 'draining' });
    if (!this.pool) return indicator.up({ message: 'no workers here' });
    const { configured, healthy, busy } = this.pool.snapshot().workers;
    if (healthy > 0) return indicator.up({ configured, healthy, busy });
    return indicator.down({ configured, healthy, busy, message: busy > 0 ? 'no healthy worker' : 'the workers have not started' });
  }
}
