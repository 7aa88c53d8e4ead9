import { Module, type DynamicModule } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { HealthController } from './health.controller.js';
import { StorageHealthIndicator } from './storage.health.js';
import { WorkerPoolHealthIndicator } from './worker-pool.health.js';

/**
 * `GET /healthz` and `GET /readyz` for any Nest application with `StorageModule`; `QueueModule` and `WorkerPoolModule` are looked at where
 * they are. The indicators are exported for applications that write their own controller: import the module without `forRoot` for that.
 */
@Module({
  // A failed check is an answer, not an event to log: probes ask again every few seconds.
  imports: [TerminusModule.forRoot({ logger: false })],
  providers: [StorageHealthIndicator, WorkerPoolHealthIndicator],
  exports: [StorageHealthIndicator, WorkerPoolHealthIndicator, TerminusModule],
})
export class HealthModule {
  static forRoot(): DynamicModule {
    return { module: HealthModule, controllers: [HealthController] };
  }
}
