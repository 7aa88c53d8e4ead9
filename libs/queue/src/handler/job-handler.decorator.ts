import { Injectable, SetMetadata, applyDecorators } from '@nestjs/common';
import type { HandlerOptions } from './handler.js';

export const JOB_HANDLER_METADATA = 'orchd:job-handler';

export interface JobHandlerMetadata {
  readonly type: string;
  readonly options: HandlerOptions;
}

/**
 * Makes a class the handler of the jobs of one type, and an injectable provider: listing it in a module's `providers` is enough. It must
 * be a singleton. Two handlers of one type are an error at start.
 */
export function JobHandler(type: string, options: HandlerOptions = {}): ClassDecorator {
  return applyDecorators(Injectable(), SetMetadata<string, JobHandlerMetadata>(JOB_HANDLER_METADATA, { type, options }));
}
