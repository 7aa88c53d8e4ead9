import {
  ConfigurableModuleBuilder,
  Inject,
  Logger,
  Module,
  type BeforeApplicationShutdown,
  type ConfigurableModuleAsyncOptions,
  type DynamicModule,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { StorageAdapter } from '@orchd/storage';
import { HandlerModule } from './handler/handler.module.js';
import { HandlerRegistry } from './handler/handler.registry.js';
import type { WorkerPoolOptions } from './worker-pool/pool-options.js';
import { WorkerPool } from './worker-pool/worker-pool.js';

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<WorkerPoolOptions>({
  moduleName: 'OrchdWorkerPool',
})
  .setClassMethodName('forRoot')
  .build();

/**
 * Runs workers in this process: provides the {@link WorkerPool}, everywhere (global), and leads it through the phases of the application.
 * It starts at bootstrap, stops claiming in `onModuleDestroy`, waits for running jobs in `beforeApplicationShutdown`, and is done when
 * `StorageModule` closes the storage in `onApplicationShutdown`. Needs the `StorageAdapter` that `StorageModule` provides.
 */
@Module({
  imports: [HandlerModule],
  providers: [
    {
      provide: WorkerPool,
      inject: [StorageAdapter, HandlerRegistry, MODULE_OPTIONS_TOKEN],
      useFactory: (storage: StorageAdapter, registry: HandlerRegistry, options: WorkerPoolOptions) =>
        new WorkerPool(storage, registry, { log: new Logger(WorkerPool.name), ...options }),
    },
  ],
  exports: [WorkerPool, HandlerModule],
})
export class WorkerPoolModule
  extends ConfigurableModuleClass
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  constructor(
    private readonly pool: WorkerPool,
    private readonly storage: StorageAdapter,
    @Inject(MODULE_OPTIONS_TOKEN) private readonly options: WorkerPoolOptions,
  ) {
    super();
  }

  static override forRoot(options: WorkerPoolOptions = {}): DynamicModule {
    return { ...super.forRoot(options), global: true };
  }

  static override forRootAsync(options: ConfigurableModuleAsyncOptions<WorkerPoolOptions>): DynamicModule {
    return { ...super.forRootAsync(options), global: true };
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.options.autoStart === false) return;
    await this.storage.open();
    this.pool.start();
  }

  onModuleDestroy(): void {
    this.pool.drain();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.pool.finish();
  }
}
