import { Injectable, type PipeTransform } from '@nestjs/common';
import { readBatch, readSubmission, type JobSubmission } from './dto/job-submission.js';

@Injectable()
export class JobSubmissionPipe implements PipeTransform<unknown, JobSubmission> {
  transform(body: unknown): JobSubmission {
    return readSubmission(body);
  }
}

@Injectable()
export class JobBatchPipe implements PipeTransform<unknown, Promise<JobSubmission[]>> {
  transform(body: unknown): Promise<JobSubmission[]> {
    return readBatch(body);
  }
}
