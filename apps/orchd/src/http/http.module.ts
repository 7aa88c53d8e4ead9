import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { HttpErrorFilter } from './errors/http-error.filter.js';
import { JobsController } from './jobs.controller.js';
import { StatsController } from './stats.controller.js';

@Module({
  controllers: [JobsController, StatsController],
  providers: [{ provide: APP_FILTER, useClass: HttpErrorFilter }],
})
export class HttpModule {}
