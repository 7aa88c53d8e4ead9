import { Module } from '@nestjs/common';
import { systemClock } from '@orchd/storage';
import { CpuHandler } from './cpu/cpu.handler.js';
import { SIMULATION_CLOCK, SIMULATION_RANDOM, SimulatedHandler } from './simulated.handler.js';

/** The job types that the service itself can do. */
@Module({
  providers: [
    SimulatedHandler,
    CpuHandler,
    { provide: SIMULATION_CLOCK, useValue: systemClock },
    { provide: SIMULATION_RANDOM, useValue: Math.random },
  ],
})
export class HandlersModule {}
