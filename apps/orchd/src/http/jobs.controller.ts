import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { QueueService } from '@orchd/queue';
import { OrchdError } from '@orchd/storage';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FieldProblems } from './dto/dto-reader.js';
import { toJobDto, toListedJobDto, type AcceptedBatchDto, type AcceptedJobDto, type JobDto, type JobPageDto } from './dto/job.dto.js';
import { withKey, type JobSubmission } from './dto/job-submission.js';
import { readListQuery } from './dto/list-query.dto.js';
import { invalidFields } from './errors/http-problem.js';
import { idempotencyKey, refuseIdempotencyKey } from './idempotency-key.js';
import { JobBatchPipe, JobSubmissionPipe } from './job-submission.pipe.js';
import { ApiAcceptJob, ApiAcceptBatch, ApiCancelJob, ApiGetJob, ApiListJobs, ApiRedriveJob } from './openapi/jobs.openapi.js';

@Controller('jobs')
export class JobsController {
  constructor(private readonly queue: QueueService) {}

  @Post()
  @ApiAcceptJob()
  async accept(
    @Body(JobSubmissionPipe) body: JobSubmission,
    @Req() http: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AcceptedJobDto> {
    const { request, sentAs } = withKey(body, idempotencyKey(http));
    const { id, state, queue, type, created } = await this.queue.enqueue(request, { sentAs });
    void reply.status(created ? 201 : 200).header('location', `/jobs/${id}`);
    return { id, state, queue, type };
  }

  @Post('batch')
  @ApiAcceptBatch()
  async acceptBatch(
    @Body(JobBatchPipe) batch: JobSubmission[],
    @Req() http: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AcceptedBatchDto> {
    refuseIdempotencyKey(http);
    const requests = batch.map(({ request }) => request);
    const outcomes = await this.queue.enqueueMany(requests, { sentAs: batch.map(({ sentAs }) => sentAs) });
    void reply.status(outcomes.some(({ created }) => created) ? 201 : 200);
    return { ids: outcomes.map(({ id }) => id) };
  }

  @Get(':id')
  @ApiGetJob()
  async get(@Param('id') id: string): Promise<JobDto> {
    const job = await this.queue.get(id);
    if (job === null) throw new OrchdError('not_found', 'there is no such job');
    return toJobDto(job);
  }

  @Get()
  @ApiListJobs()
  async list(@Query() query: Record<string, unknown>): Promise<JobPageDto> {
    const problems: FieldProblems = new Map();
    const checked = readListQuery(query, problems);
    if (problems.size > 0) throw invalidFields(problems);
    const { jobs, nextCursor } = await this.queue.list(checked);
    return { jobs: jobs.map(toListedJobDto), next_cursor: nextCursor };
  }

  @Delete(':id')
  @ApiCancelJob()
  async cancel(@Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<JobDto> {
    const job = await this.queue.cancel(id);
    void reply.status(job.state === 'cancelled' ? 200 : 202);
    return toJobDto(job);
  }

  @Post(':id/redrive')
  @HttpCode(200)
  @ApiRedriveJob()
  async redrive(@Param('id') id: string): Promise<JobDto> {
    return toJobDto(await this.queue.redrive(id));
  }
}
