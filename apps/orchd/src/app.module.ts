import { Module, type DynamicModule } from '@nestjs/common';
import { HealthModule } from '@orchd/health';
import { QueueModule, WorkerPoolModule } from '@orchd/queue';
import { StorageModule, type StorageSettings } from '@orchd/storage';
import type { Settings } from './config/settings.js';
import { HandlersModule } from './handlers/handlers.module.js';
import { HttpModule } from './http/http.module.js';

/** The wiring of the service: one storage, and on it the queue, the workers, the health and the API. */
@Module({})
export class AppModule {
  static forRoot(settings: Settings, hooks: Pick<StorageSettings, 'warn' | 'onReplay'>): DynamicModule {
    const { storage, dataDir, fsync, walSegmentBytes, force, redisUrl, redisPrefix } = settings;
    const { maxAttempts, maxRequeues, retryBaseMs, retryCapMs } = settings;
    return {
      module: AppModule,
      imports: [
        StorageModule.forRoot({ storage, dataDir, fsync, walSegmentBytes, force, redisUrl, redisPrefix, ...hooks, autoOpen: false }),
        QueueModule.forRoot({ maxAttempts, maxRequeues, retryBaseMs, retryCapMs }),
        ...(settings.role === 'api' ? [] : [workerPool(settings), HandlersModule.forRoot(settings)]),
        HealthModule.forRoot(),
        HttpModule.forRole(settings.role),
      ],
    };
  }
}

function workerPool(settings: Settings): DynamicModule {
  const { workers, hbTimeoutMs, healthCheck, leaseMs, shutdownGraceMs, keepFinishedMs, keepFinished, keepDeadMs } = settings;
  return WorkerPoolModule.forRoot({
    queues: Object.fromEntries(settings.queues.map(({ name, workers: own }) => [name, own ?? workers])),
    heartbeatTimeoutMs: hbTimeoutMs,
    healthCheck,
    leaseMs,
    shutdownGraceMs,
    keepFinishedMs,
    keepFinished,
    keepDeadMs,
    autoStart: false,
  });
}
