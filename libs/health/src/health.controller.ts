import { Controller, Get, VERSION_NEUTRAL } from '@nestjs/common';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { StorageHealthIndicator } from './storage.health.js';
import { WorkerPoolHealthIndicator } from './worker-pool.health.js';

/** Two questions, never one: a process that is alive but not ready must get no requests, and must not be killed for it. */
@Controller({ version: VERSION_NEUTRAL })
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly storage: StorageHealthIndicator,
    private readonly workers: WorkerPoolHealthIndicator,
  ) {}

  /** 200 while the event loop turns. Looks at nothing else, or a full disk would have the process restarted for ever. */
  @Get('healthz')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** 200 when jobs are taken and done here; else 503. The body is Terminus' own, with the keys `storage` and `workers`. */
  @Get('readyz')
  @HealthCheck({ swaggerDocumentation: false })
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.storage.check(), () => this.workers.check()]);
  }
}
