import { ApiSchema, IntersectionType } from '@nestjs/swagger';
import { LIMITS } from '@orchd/storage';
import { DedupeKeyField, IdField, IntegerField, ObjectField, PayloadField, QueueField, TypeField } from './field.decorators.js';
import { SimulatedPayloadDto } from './simulated-payload.dto.js';

const DAY_MS = 86_400_000;

@ApiSchema({ name: 'Backoff' })
export class BackoffDto {
  @IntegerField(0, DAY_MS, { description: 'Delay before the second attempt, in ms; it doubles with each one.' })
  base_ms?: number;

  @IntegerField(0, DAY_MS, { description: 'Longest delay, in ms.' })
  cap_ms?: number;
}

/** What both forms of a job request share. */
export class JobRequestDto {
  @IdField({ description: 'Default: a new UUIDv7. The same id with the same body answers the same job again.' })
  id?: string;

  @QueueField({ description: 'Name of the queue.', preset: 'default' })
  queue?: string;

  @IntegerField(0, 9, { description: '9 is run first.', preset: 5 })
  priority?: number;

  @IntegerField(0, LIMITS.durationMs, { description: 'Run so many ms from now. Not beside `run_at`.' })
  delay_ms?: number;

  @IntegerField(0, Number.MAX_SAFE_INTEGER, { description: 'Run at this instant, epoch ms; a past one is now. Not beside `delay_ms`.' })
  run_at?: number;

  @IntegerField(1, LIMITS.attempts, { description: 'Failures before the job is dead.' })
  max_attempts?: number;

  @IntegerField(0, LIMITS.attempts, { description: 'Requeues before the job is dead.' })
  max_requeues?: number;

  @IntegerField(0, DAY_MS, { description: 'Longest total time of one attempt, in ms; 0 = no limit.', preset: 0 })
  timeout_ms?: number;

  @ObjectField(BackoffDto, { description: 'Delays between attempts.' })
  backoff?: BackoffDto;

  @DedupeKeyField({ description: 'The same key with the same body answers the same job again. Same as the header `Idempotency-Key`.' })
  dedupe_key?: string;
}

/** Short form: a job of type `simulated` with these three as its payload. */
@ApiSchema({ name: 'ShortJob' })
export class ShortJobDto extends IntersectionType(JobRequestDto, SimulatedPayloadDto) {}

@ApiSchema({ name: 'GeneralJob' })
export class GeneralJobDto extends JobRequestDto {
  @TypeField({ description: 'Which handler runs the job.', required: true, example: 'simulated' })
  type!: string;

  @PayloadField({ description: 'Any JSON, at most 100 levels deep. Numbers are doubles.', example: { work_ms: 20 } })
  payload?: unknown;
}
