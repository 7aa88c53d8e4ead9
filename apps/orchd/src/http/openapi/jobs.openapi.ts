import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiHeader, ApiOperation, ApiParam, ApiQuery, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { DEDUPE_KEY_MAX, ID_PATTERN, LIMITS } from '@orchd/storage';
import { AcceptedBatchDto, AcceptedJobDto, JobDto, JobPageDto } from '../dto/job.dto.js';
import { BackoffDto, GeneralJobDto, ShortJobDto } from '../dto/job-request.dto.js';
import { ListQueryDto } from '../dto/list-query.dto.js';
import { refusals } from './refusals.js';

/** What OpenAPI says about each call of jobs.controller.ts, kept out of it so that the code reads as code. */

const JOB_FORMS = { oneOf: [{ $ref: getSchemaPath(ShortJobDto) }, { $ref: getSchemaPath(GeneralJobDto) }] };

export function ApiAcceptJob(): MethodDecorator {
  return applyDecorators(
    ApiExtraModels(ShortJobDto, GeneralJobDto, BackoffDto),
    ApiOperation({ operationId: 'acceptJob', summary: 'Take a job; answered when it is durable.' }),
    ApiHeader({ name: 'Idempotency-Key', required: false, schema: { type: 'string', minLength: 1, maxLength: DEDUPE_KEY_MAX } }),
    ApiBody({ schema: JOB_FORMS }),
    ApiResponse({ status: 201, type: AcceptedJobDto, description: 'Accepted.', headers: { Location: { schema: { type: 'string' } } } }),
    ApiResponse({ status: 200, type: AcceptedJobDto, description: 'The same request was accepted before; this is its job.' }),
    refusals(400, 409, 413, 415, 503),
  );
}

export function ApiAcceptBatch(): MethodDecorator {
  const jobs = { type: 'array', minItems: 1, maxItems: LIMITS.batch, items: JOB_FORMS };
  return applyDecorators(
    ApiOperation({ operationId: 'acceptBatch', summary: 'Take all of the jobs or none.' }),
    ApiBody({ schema: { type: 'object', required: ['jobs'], additionalProperties: false, properties: { jobs } } }),
    ApiResponse({ status: 201, type: AcceptedBatchDto, description: 'Accepted.' }),
    ApiResponse({ status: 200, type: AcceptedBatchDto, description: 'The same jobs were all accepted before.' }),
    refusals(400, 409, 413, 415, 503),
  );
}

export function ApiGetJob(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'getJob', summary: 'One job.' }),
    jobId(),
    ApiResponse({ status: 200, type: JobDto, description: 'The job.' }),
    refusals(400, 404, 503),
  );
}

export function ApiListJobs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'listJobs', summary: 'A page of jobs, by id ascending, without payload and result.' }),
    ApiQuery({ type: ListQueryDto }),
    ApiResponse({ status: 200, type: JobPageDto, description: 'A page; the last one has no `next_cursor`.' }),
    refusals(400, 503),
  );
}

export function ApiCancelJob(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'cancelJob', summary: 'Cancel a job.' }),
    jobId(),
    ApiResponse({ status: 200, type: JobDto, description: 'Cancelled.' }),
    ApiResponse({ status: 202, type: JobDto, description: 'The job is running; it was asked to stop.' }),
    refusals(400, 404, 409, 503),
  );
}

export function ApiRedriveJob(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'redriveJob', summary: 'Make a dead job ready again, its counters at 0.' }),
    jobId(),
    ApiResponse({ status: 200, type: JobDto, description: 'Ready.' }),
    refusals(400, 404, 409, 503),
  );
}

function jobId(): MethodDecorator {
  return ApiParam({ name: 'id', schema: { type: 'string', pattern: ID_PATTERN.source } });
}
