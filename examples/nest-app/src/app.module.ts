import { Module } from '@nestjs/common';
import { QueueModule, WorkerPoolModule } from '@orchd/queue';
import { StorageModule } from '@orchd/storage';
import { MailModule } from './mail/mail.module.js';

/** Where the jobs are kept is read from the environment: ORCHD_STORAGE, ORCHD_DATA_DIR, ORCHD_REDIS_URL. */
@Module({
  imports: [StorageModule.forRoot(), QueueModule.forRoot(), WorkerPoolModule.forRoot({ workers: 4 }), MailModule],
})
export class AppModule {}
