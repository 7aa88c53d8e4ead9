import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import type { QueueStats } from '@orchd/queue';
import type { Durability, StorageCapabilities, StorageHealth } from '@orchd/storage';

const COUNT = { type: 'integer', minimum: 0 } as const;
const SINCE_START = { ...COUNT, description: 'Since start, of this process.' } as const;

@ApiSchema({ name: 'WorkerStats' })
export class WorkerStatsDto {
  @ApiProperty(COUNT)
  configured!: number;
  @ApiProperty(COUNT)
  healthy!: number;
  @ApiProperty(COUNT)
  busy!: number;
  @ApiProperty({ ...COUNT, description: 'Workers whose slot was given to a new one.' })
  replaced!: number;
  @ApiProperty({ ...COUNT, description: 'Handlers left alone that have not come back.' })
  zombies!: number;
}

/** The figures are there as far as the kind of storage has them; bytes and milliseconds. */
@ApiSchema({ name: 'StorageStats' })
export class StorageStatsDto {
  @ApiProperty({ example: 'wal' })
  kind!: string;
  @ApiProperty({ enum: ['memory', 'os', 'interval', 'fsync', 'replicated', 'unknown'], description: 'What an acknowledged job survives.' })
  durability!: Durability;
  @ApiProperty()
  writable!: boolean;
  @ApiPropertyOptional(COUNT)
  segments?: number;
  @ApiPropertyOptional(COUNT)
  bytes?: number;
  @ApiPropertyOptional(COUNT)
  live_bytes?: number;
  @ApiPropertyOptional()
  live_ratio?: number;
  @ApiPropertyOptional()
  last_fsync_ms?: number;
  @ApiPropertyOptional()
  fsync_p50_ms?: number;
  @ApiPropertyOptional()
  fsync_p99_ms?: number;
}

@ApiSchema({ name: 'Stats' })
export class StatsDto {
  @ApiProperty({ ...COUNT, description: 'Jobs stored, of all processes; the six states below add up to it.' })
  jobs!: number;
  @ApiProperty(COUNT)
  ready!: number;
  @ApiProperty(COUNT)
  delayed!: number;
  @ApiProperty(COUNT)
  active!: number;
  @ApiProperty(COUNT)
  done!: number;
  @ApiProperty(COUNT)
  dead!: number;
  @ApiProperty(COUNT)
  cancelled!: number;
  @ApiProperty(SINCE_START)
  submitted!: number;
  @ApiProperty({ ...SINCE_START, description: 'Failures that led to another attempt; since start, of this process.' })
  retried!: number;
  @ApiProperty(SINCE_START)
  requeued!: number;
  @ApiProperty({ ...SINCE_START, description: 'Results that came too late and were refused; since start, of this process.' })
  stale_rejected!: number;
  @ApiProperty({ type: WorkerStatsDto })
  workers!: WorkerStatsDto;
  @ApiProperty({ type: StorageStatsDto })
  storage!: StorageStatsDto;
  @ApiProperty()
  uptime_s!: number;
}

export function toStatsDto(stats: QueueStats, { kind, durability }: StorageCapabilities, health: StorageHealth, uptimeS: number): StatsDto {
  const { ready, delayed, active, done, dead, cancelled } = stats.counts;
  const { configured, healthy, busy, replaced, zombies } = stats.workers;
  const { segments, bytes, liveBytes, liveRatio, lastFsyncMs, fsyncP50Ms, fsyncP99Ms } = health.figures;
  return {
    jobs: ready + delayed + active + done + dead + cancelled,
    ready,
    delayed,
    active,
    done,
    dead,
    cancelled,
    submitted: stats.submitted,
    retried: stats.retried,
    requeued: stats.requeued,
    stale_rejected: stats.staleRejected,
    workers: { configured, healthy, busy, replaced, zombies },
    storage: {
      kind,
      durability,
      writable: health.writable,
      segments,
      bytes,
      live_bytes: liveBytes,
      live_ratio: liveRatio,
      last_fsync_ms: lastFsyncMs,
      fsync_p50_ms: fsyncP50Ms,
      fsync_p99_ms: fsyncP99Ms,
    },
    uptime_s: uptimeS,
  };
}
