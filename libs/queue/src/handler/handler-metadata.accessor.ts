import { Injectable, type Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { JOB_HANDLER_METADATA, type JobHandlerMetadata } from './job-handler.decorator.js';

@Injectable()
export class HandlerMetadataAccessor {
  constructor(private readonly reflector: Reflector) {}

  metadataOf(provider: Type | null): JobHandlerMetadata | undefined {
    // A value provider may have no class, and an object without prototype has none either.
    if (typeof provider !== 'function') return undefined;
    return this.reflector.get<JobHandlerMetadata | undefined>(JOB_HANDLER_METADATA, provider);
  }
}
