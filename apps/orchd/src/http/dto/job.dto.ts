import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Job } from '@orchd/queue';
import { JOB_ERROR_CODES, JOB_STATES, type JobErrorCode, type JobState } from '@orchd/storage';
import { ANY_JSON } from './field.decorators.js';

const INSTANT = { type: 'integer', description: 'Epoch ms.' } as const;
const COUNT = { type: 'integer', minimum: 0 } as const;

@ApiSchema({ name: 'JobError' })
export class JobErrorDto {
  @ApiProperty({ enum: JOB_ERROR_CODES })
  code!: JobErrorCode;
  @ApiProperty()
  message!: string;
  @ApiProperty(INSTANT)
  at!: number;
}

@ApiSchema({ name: 'JobProgress' })
export class JobProgressDto {
  @ApiProperty({ minimum: 0, maximum: 100 })
  percent!: number;
  @ApiProperty({ type: String, nullable: true })
  note!: string | null;
}

/** What a list shows of a job. */
@ApiSchema({ name: 'ListedJob' })
export class ListedJobDto {
  @ApiProperty()
  id!: string;
  @ApiProperty()
  queue!: string;
  @ApiProperty()
  type!: string;
  @ApiProperty({ enum: JOB_STATES })
  state!: JobState;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 9 })
  priority!: number;
  @ApiProperty({ type: String, nullable: true })
  dedupe_key!: string | null;
  @ApiProperty({ ...COUNT, description: 'Failures so far.' })
  attempts!: number;
  @ApiProperty(COUNT)
  max_attempts!: number;
  @ApiProperty({ ...COUNT, description: 'Deliveries taken away: worker hung, lease expired, process died.' })
  requeues!: number;
  @ApiProperty(COUNT)
  max_requeues!: number;
  @ApiProperty({ ...COUNT, description: 'Deliveries given back untouched.' })
  releases!: number;
  @ApiProperty({ ...COUNT, description: 'Deliveries begun.' })
  starts!: number;
  @ApiProperty({ ...COUNT, description: 'Fencing token: rises with every delivery.' })
  epoch!: number;
  @ApiProperty()
  cancel_requested!: boolean;
  @ApiProperty(INSTANT)
  created_at!: number;
  @ApiProperty({ ...INSTANT, description: 'When the job is, or became, due; epoch ms.' })
  run_at!: number;
  @ApiProperty({ ...INSTANT, nullable: true })
  started_at!: number | null;
  @ApiProperty({ ...INSTANT, nullable: true })
  finished_at!: number | null;
  @ApiProperty({ type: JobProgressDto, nullable: true })
  progress!: JobProgressDto | null;
  @ApiProperty({ type: JobErrorDto, nullable: true, description: 'The last failure, also of a job that went on to succeed.' })
  error!: JobErrorDto | null;
}

@ApiSchema({ name: 'Job' })
export class JobDto extends ListedJobDto {
  @ApiProperty(ANY_JSON)
  payload!: unknown;
  @ApiProperty({ type: [String], description: 'The last lines its handlers have logged, oldest first.' })
  log!: readonly string[];
  @ApiProperty({ ...ANY_JSON, description: 'What the handler returned.' })
  result!: unknown;
}

@ApiSchema({ name: 'JobPage' })
export class JobPageDto {
  @ApiProperty({ type: [ListedJobDto] })
  jobs!: ListedJobDto[];
  @ApiProperty({ type: String, nullable: true })
  next_cursor!: string | null;
}

@ApiSchema({ name: 'AcceptedJob' })
export class AcceptedJobDto {
  @ApiProperty()
  id!: string;
  @ApiProperty({ enum: JOB_STATES })
  state!: JobState;
  @ApiProperty()
  queue!: string;
  @ApiProperty()
  type!: string;
}

@ApiSchema({ name: 'AcceptedBatch' })
export class AcceptedBatchDto {
  @ApiProperty({ type: [String], description: 'In the order of the request.' })
  ids!: string[];
}

/** The order of the fields is that of the answer. */
export function toJobDto(job: Job): JobDto {
  const { payload, result, log } = job;
  const { id, queue, type, state, priority, progress, error, ...rest } = toListedJobDto(job);
  return { id, queue, type, state, priority, payload, ...rest, progress, log, result, error };
}

export function toListedJobDto(job: Job): ListedJobDto {
  return {
    id: job.id,
    queue: job.queue,
    type: job.type,
    state: job.state,
    priority: job.priority,
    dedupe_key: job.dedupeKey,
    attempts: job.attempts,
    max_attempts: job.maxAttempts,
    requeues: job.requeues,
    max_requeues: job.maxRequeues,
    releases: job.releases,
    starts: job.starts,
    epoch: job.epoch,
    cancel_requested: job.cancelRequested,
    created_at: job.createdAt,
    run_at: job.runAt,
    started_at: job.startedAt,
    finished_at: job.finishedAt,
    progress: job.progress,
    error: job.error,
  };
}
