import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiResponse } from '@nestjs/swagger';
import { QueueService } from '@orchd/queue';
import { StorageAdapter } from '@orchd/storage';
import { StatsDto, toStatsDto } from './dto/stats.dto.js';
import { refusals } from './openapi/refusals.js';

const MS_PER_S = 1000;

@Controller('stats')
export class StatsController {
  constructor(
    private readonly queue: QueueService,
    private readonly storage: StorageAdapter,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'getStats', summary: 'Counts and figures; never waits for the disk.' })
  @ApiResponse({ status: 200, type: StatsDto, description: 'The figures.' })
  @refusals(503)
  async get(): Promise<StatsDto> {
    const stats = await this.queue.stats();
    return toStatsDto(stats, this.storage.capabilities, this.storage.health(), Math.round(process.uptime() * MS_PER_S) / MS_PER_S);
  }
}
