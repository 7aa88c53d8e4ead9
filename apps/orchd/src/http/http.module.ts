import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { Settings } from '../config/settings.js';
import { HttpErrorFilter } from './errors/http-error.filter.js';
import { JobsController } from './jobs.controller.js';
import { StatsController } from './stats.controller.js';

/** What the port serves beside the probes. A process that only works takes and shows no jobs: `/jobs` is not there. */
@Module({ providers: [{ provide: APP_FILTER, useClass: HttpErrorFilter }] })
export class HttpModule {
  static forRole(role: Settings['role']): DynamicModule {
    return { module: HttpModule, controllers: role === 'worker' ? [StatsController] : [JobsController, StatsController] };
  }
}
