import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { InvalidArgumentError } from '@orchd/storage';
import { HandlerMetadataAccessor } from './handler-metadata.accessor.js';
import { HandlerRegistry } from './handler.registry.js';
import type { Handler } from './handler.js';
import type { HandlerOptionsFactory } from './job-handler.decorator.js';

/** Finds the providers with `@JobHandler`, in all modules, and registers them. */
@Injectable()
export class HandlerExplorer implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly accessor: HandlerMetadataAccessor,
    private readonly registry: HandlerRegistry,
  ) {}

  async onModuleInit(): Promise<void> {
    for (const wrapper of this.discovery.getProviders()) {
      const instance = wrapper.instance as (Handler & Partial<HandlerOptionsFactory>) | null | undefined;
      // The object's own class, so that handlers made by a factory are found too.
      const metadata = this.accessor.metadataOf((instance?.constructor ?? wrapper.metatype) as Type | null);
      // An alias (`useExisting`) shows the same object a second time under another token.
      if (!metadata || wrapper.isAlias) continue;
      if (!wrapper.isDependencyTreeStatic()) {
        throw new InvalidArgumentError('handler', `of '${metadata.type}' must be a singleton: it lives longer than any request`);
      }
      const { module, ...options } = { ...metadata.options, ...(await instance!.createHandlerOptions?.()) };
      this.registry.register(metadata.type, module ?? instance!, options);
    }
  }
}
