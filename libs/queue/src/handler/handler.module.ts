import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { HandlerMetadataAccessor } from './handler-metadata.accessor.js';
import { HandlerExplorer } from './handler.explorer.js';
import { HandlerRegistry } from './handler.registry.js';

/** One registry per application, shared by the queue (which refuses unknown types) and the worker pool (which runs them). */
@Module({
  imports: [DiscoveryModule],
  providers: [HandlerRegistry, HandlerMetadataAccessor, HandlerExplorer],
  exports: [HandlerRegistry],
})
export class HandlerModule {}
