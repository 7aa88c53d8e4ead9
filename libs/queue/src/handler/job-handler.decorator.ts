import { Injectable, SetMetadata, applyDecorators } from '@nestjs/common';
import type { HandlerOptions } from './handler.js';

export const JOB_HANDLER_METADATA = 'orchd:job-handler';

export interface JobHandlerOptions extends HandlerOptions {
  /** The file that exports `handle`, as `new URL('./resize.thread.js', import.meta.url)`: it runs in a thread or a process, not the class. */
  readonly module?: URL;
}

/** A handler class may have options that are only known at start, as from Nest's ConfigService. */
export interface HandlerOptionsFactory {
  /** Called once, before the workers start. What it returns goes before the options of the decorator. */
  createHandlerOptions(): JobHandlerOptions | Promise<JobHandlerOptions>;
}

export interface JobHandlerMetadata {
  readonly type: string;
  readonly options: JobHandlerOptions;
}

/**
 * Makes a class the handler of the jobs of one type, and an injectable provider: listing it in a module's `providers` is enough. It must
 * be a singleton. With `module` among the options the class declares the handler and needs no `handle` of its own; with a method
 * `createHandlerOptions` (see {@link HandlerOptionsFactory}) it adds options at start. Two handlers of one type are an error at start.
 */
export function JobHandler(type: string, options: JobHandlerOptions = {}): ClassDecorator {
  return applyDecorators(Injectable(), SetMetadata<string, JobHandlerMetadata>(JOB_HANDLER_METADATA, { type, options }));
}
