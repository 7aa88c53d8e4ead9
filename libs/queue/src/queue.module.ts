import { ConfigurableModuleBuilder, Module, type ConfigurableModuleAsyncOptions, type DynamicModule } from '@nestjs/common';
import { StorageAdapter } from '@orchd/storage';
import { HandlerModule } from './handler/handler.module.js';
import { HandlerRegistry } from './handler/handler.registry.js';
import { QueueService, type QueueOptions } from './queue.service.js';
import { WorkerPool } from './worker-pool/worker-pool.js';

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<QueueOptions>({
  moduleName: 'OrchdQueue',
})
  .setClassMethodName('forRoot')
  .build();

/**
 * Provides {@link QueueService}, and the {@link HandlerRegistry} for handlers that are no Nest providers, everywhere (global). Needs the
 * `StorageAdapter` that `StorageModule` provides. With `WorkerPoolModule` beside it the queue takes only what this process can do.
 */
@Module({
  imports: [HandlerModule],
  providers: [
    {
      provide: QueueService,
      inject: [StorageAdapter, HandlerRegistry, MODULE_OPTIONS_TOKEN, { token: WorkerPool, optional: true }],
      useFactory: (storage: StorageAdapter, registry: HandlerRegistry, options: QueueOptions, pool?: WorkerPool) =>
        new QueueService(storage, registry, options, pool ?? null),
    },
  ],
  exports: [QueueService, HandlerModule],
})
export class QueueModule extends ConfigurableModuleClass {
  static override forRoot(options: QueueOptions = {}): DynamicModule {
    return { ...super.forRoot(options), global: true };
  }

  static override forRootAsync(options: ConfigurableModuleAsyncOptions<QueueOptions>): DynamicModule {
    return { ...super.forRootAsync(options), global: true };
  }
}
