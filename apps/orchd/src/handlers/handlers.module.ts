import { Logger, Module, type DynamicModule } from '@nestjs/common';
import { HandlerRegistry } from '@orchd/queue';
import { systemClock } from '@orchd/storage';
import { CpuHandler } from './cpu/cpu.handler.js';
import { registerOwnHandlers } from './own-handlers.js';
import { SIMULATION_CLOCK, SIMULATION_RANDOM, SimulatedHandler } from './simulated.handler.js';

const OWN_HANDLERS = Symbol('OWN_HANDLERS');

/** The job types that the service itself can do, and those of a folder of modules. */
@Module({
  providers: [
    SimulatedHandler,
    CpuHandler,
    { provide: SIMULATION_CLOCK, useValue: systemClock },
    { provide: SIMULATION_RANDOM, useValue: Math.random },
  ],
})
export class HandlersModule {
  /** @param folder of `--handlers`; read before the service listens, so that it knows all its types with the first job */
  static forRoot(folder: string | null): DynamicModule {
    if (folder === null) return { module: HandlersModule };
    const own = {
      provide: OWN_HANDLERS,
      inject: [HandlerRegistry],
      useFactory: (registry: HandlerRegistry) => registerOwnHandlers(folder, registry, new Logger('handlers')),
    };
    return { module: HandlersModule, providers: [own] };
  }
}
