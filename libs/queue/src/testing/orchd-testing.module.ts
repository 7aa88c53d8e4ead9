import { Module, type DynamicModule } from '@nestjs/common';
import { StorageModule } from '@orchd/storage';
import { ManualClock } from '@orchd/storage/testing';
import { QueueModule } from '../queue.module.js';
import { QueueService, type QueueOptions } from '../queue.service.js';
import { WorkerPoolModule } from '../worker-pool.module.js';
import type { WorkerPoolOptions } from '../worker-pool/pool-options.js';
import { OrchdTesting } from './orchd-testing.js';
import { WatchedStorage } from './watched-storage.js';

export interface OrchdTestingOptions {
  /** What the application gives to `QueueModule`. */
  readonly queue?: QueueOptions;
  /** What the application gives to `WorkerPoolModule`; clock and chance are the test's. */
  readonly workers?: Omit<WorkerPoolOptions, 'clock' | 'random'>;
  /** Where the clock stands, epoch ms. */
  readonly startAt?: number;
}

/** No jitter: a backoff is as long as its formula says. */
const NO_CHANCE = () => 0;

/**
 * Stands in a test for `StorageModule`, `QueueModule` and `WorkerPoolModule`: jobs in memory, a clock that the test moves, no chance, and
 * {@link OrchdTesting} to bring jobs to their end. Global, as those are; the workers start when the application is initialized.
 */
@Module({})
export class OrchdTestingModule {
  static forRoot({ queue, workers, startAt }: OrchdTestingOptions = {}): DynamicModule {
    const clock = new ManualClock(startAt);
    const storage = new WatchedStorage({ clock, random: NO_CHANCE });
    return {
      module: OrchdTestingModule,
      global: true,
      imports: [
        StorageModule.forRoot({ adapter: storage }),
        QueueModule.forRoot(queue),
        WorkerPoolModule.forRoot({ ...workers, clock, random: NO_CHANCE }),
      ],
      providers: [
        {
          provide: OrchdTesting,
          inject: [QueueService],
          useFactory: (queueService: QueueService) => new OrchdTesting(clock, storage, queueService),
        },
      ],
      exports: [OrchdTesting],
    };
  }
}
