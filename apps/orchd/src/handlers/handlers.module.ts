import { Logger, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { HandlerRegistry } from '@orchd/queue';
import { systemClock } from '@orchd/storage';
import { CpuHandler } from './cpu/cpu.handler.js';
import { HTTP_ALLOW, HttpHandler } from './http/http.handler.js';
import type { HttpHost } from '../config/settings.js';
import { registerOwnHandlers } from './own-handlers.js';
import { SIMULATION_CLOCK, SIMULATION_RANDOM, SimulatedHandler } from './simulated.handler.js';

const OWN_HANDLERS = Symbol('OWN_HANDLERS');

/** The job types that the service itself can do, and those of a folder of modules. */
@Module({
  providers: [
    SimulatedHandler,
    CpuHandler,
    HttpHandler,
    { provide: SIMULATION_CLOCK, useValue: systemClock },
    { provide: SIMULATION_RANDOM, useValue: Math.random },
  ],
})
export class HandlersModule {
  /**
   * @param handlers folder of `--handlers`; read before the service listens, so that it knows all its types with the first job
   * @param httpAllow hosts that jobs of type `http` may speak to
   */
  static forRoot({ handlers, httpAllow }: { handlers: string | null; httpAllow: readonly HttpHost[] }): DynamicModule {
    const providers: Provider[] = [{ provide: HTTP_ALLOW, useValue: httpAllow }];
    if (handlers !== null) {
      providers.push({
        provide: OWN_HANDLERS,
        inject: [HandlerRegistry],
        useFactory: (registry: HandlerRegistry) => registerOwnHandlers(handlers, registry, new Logger('handlers')),
      });
    }
    return { module: HandlersModule, providers };
  }
}
