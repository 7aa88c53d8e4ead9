import {
  ConfigurableModuleBuilder,
  Inject,
  Logger,
  Module,
  type ConfigurableModuleAsyncOptions,
  type DynamicModule,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { StorageAdapter } from './contract/index.js';
import { createStorage } from './storage.factory.js';
import type { StorageSettings } from './storage.settings.js';

export interface StorageModuleOptions extends StorageSettings {
  /** Open the storage while the application starts (default). With false the application calls `storage.open()` itself. */
  readonly autoOpen?: boolean;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<StorageModuleOptions>()
  .setClassMethodName('forRoot')
  .build();

function logWarning(message: string, details: object): void {
  new Logger(StorageModule.name).warn(`${message} ${JSON.stringify(details)}`);
}

/**
 * Provides the one {@link StorageAdapter} of an application, everywhere (global). `forRoot()` alone reads `ORCHD_STORAGE` and its
 * settings; `forRoot({ storage: 'memory' })`, `forRoot({ adapter })` and `forRootAsync({ inject: [ConfigService], useFactory })` choose
 * in code. The storage is open when `onApplicationBootstrap` of any module runs, and is closed last, in `onApplicationShutdown`.
 */
@Module({
  providers: [
    {
      provide: StorageAdapter,
      inject: [MODULE_OPTIONS_TOKEN],
      useFactory: (options: StorageModuleOptions) => createStorage({ warn: logWarning, ...options }),
    },
  ],
  exports: [StorageAdapter],
})
export class StorageModule extends ConfigurableModuleClass implements OnModuleInit, OnApplicationShutdown {
  constructor(
    private readonly storage: StorageAdapter,
    @Inject(MODULE_OPTIONS_TOKEN) private readonly options: StorageModuleOptions,
  ) {
    super();
  }

  static override forRoot(options: StorageModuleOptions = {}): DynamicModule {
    return { ...super.forRoot(options), global: true };
  }

  static override forRootAsync(options: ConfigurableModuleAsyncOptions<StorageModuleOptions>): DynamicModule {
    return { ...super.forRootAsync(options), global: true };
  }

  async onModuleInit(): Promise<void> {
    if (this.options.autoOpen !== false) await this.storage.open();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.storage.close();
  }
}
