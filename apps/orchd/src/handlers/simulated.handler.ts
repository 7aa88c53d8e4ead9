import { Inject } from '@nestjs/common';
import { JobHandler, type Handler, type Job, type JobContext } from '@orchd/queue';
import type { Clock } from '@orchd/storage';
import { SIMULATED, type SimulatedPayloadDto } from '../http/dto/simulated-payload.dto.js';
import { HeartbeatTicker } from './heartbeat-ticker.js';

export const SIMULATION_CLOCK = Symbol('SIMULATION_CLOCK');
/** Uniform in [0, 1). */
export const SIMULATION_RANDOM = Symbol('SIMULATION_RANDOM');

const BEAT_MS = 10;

/** Stands for work that waits: it takes `work_ms`, and now and then it fails or hangs. */
@JobHandler(SIMULATED)
export class SimulatedHandler implements Handler<SimulatedPayloadDto | null> {
  readonly #ticker: HeartbeatTicker;

  constructor(
    @Inject(SIMULATION_CLOCK) private readonly clock: Clock,
    @Inject(SIMULATION_RANDOM) private readonly random: () => number,
  ) {
    this.#ticker = new HeartbeatTicker(clock, BEAT_MS);
  }

  handle({ payload }: Job<SimulatedPayloadDto | null>, ctx: JobContext): Promise<void> | void {
    const { work_ms = 0, fail_prob = 0, hang_prob = 0 } = payload ?? {};
    if (this.random() < hang_prob) return hang();
    const fails = this.random() < fail_prob;
    if (work_ms > 0) return this.#work(work_ms, ctx, fails);
    if (fails) throw simulatedFailure();
  }

  /** One timer to the exact end. Whether the delivery is over before is looked at with each beat: no listener, so short jobs pay nothing. */
  #work(ms: number, ctx: JobContext, fails: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const stopBeating = this.#ticker.subscribe(() => {
        ctx.heartbeat();
        if (!ctx.signal.aborted) return;
        stopBeating();
        cancelTimer();
        reject(ctx.signal.reason as Error);
      });
      const cancelTimer = this.clock.setTimer(ms, () => {
        stopBeating();
        if (fails) reject(simulatedFailure());
        else resolve();
      });
    });
  }
}

function simulatedFailure(): Error {
  return new Error('simulated failure');
}

/** Neither settles nor beats, and does not listen: what a worker looks like that waits for something that never comes. */
function hang(): Promise<never> {
  return new Promise(() => undefined);
}
