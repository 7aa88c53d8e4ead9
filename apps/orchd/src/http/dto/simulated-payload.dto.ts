import { NumberField } from './field.decorators.js';

/** The built-in type that the short form stands for. */
export const SIMULATED = 'simulated';

const DAY_MS = 86_400_000;

/** Payload of the type `simulated`. */
export class SimulatedPayloadDto {
  @NumberField(0, DAY_MS, { description: 'How long the job works, in ms.', example: 20, preset: 0 })
  work_ms?: number;

  @NumberField(0, 1, { description: 'Probability that an attempt fails after its work.', example: 0.2, preset: 0 })
  fail_prob?: number;

  @NumberField(0, 1, { description: 'Probability that an attempt hangs: no heartbeat, no end.', example: 0.01, preset: 0 })
  hang_prob?: number;
}
