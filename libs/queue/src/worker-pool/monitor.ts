import { PeriodicService } from '../maintenance/periodic-service.js';
import type { HandlerRegistry } from '../handler/handler.registry.js';
import type { Delivery } from './delivery.js';
import type { PoolSettings } from './pool-options.js';
import type { Workers } from './workers.js';

/** Looks per heartbeat time-out, so that a silent worker is found at the latest 1.25 time-outs after its last beat (R7). */
const LOOKS = 4;

/**
 * Finds hung workers: by their silence, never by the age of their job. Silence is only counted while the monitor itself was awake. When it
 * was late (a blocked event loop, SIGSTOP), the workers could not beat either, and each is granted a full time-out before it is judged (R8).
 */
export class Monitor extends PeriodicService {
  protected readonly name = 'monitor';

  constructor(
    private readonly settings: PoolSettings,
    private readonly registry: HandlerRegistry,
    private readonly workers: Workers,
  ) {
    super(settings);
  }

  protected intervalMs(): number {
    let shortestMs = this.settings.heartbeatTimeoutMs;
    for (const { options } of this.registry.all()) shortestMs = Math.min(shortestMs, options.heartbeatTimeoutMs ?? shortestMs);
    return shortestMs / LOOKS;
  }

  protected tick(_signal: AbortSignal, lateMs: number): void {
    const nowMs = this.clock.monoMs();
    for (const worker of this.workers.busy()) {
      const delivery = worker.delivery!;
      forgive(delivery, nowMs, lateMs);
      if (!delivery.isSilent(nowMs)) continue;
      this.log.warn(`worker ${worker.id} is hung: no heartbeat for ${delivery.heartbeatTimeoutMs} ms in job ${delivery.job.id}`);
      this.workers.end(worker, 'hung');
    }
  }
}

/**
 * The first lateness since the last beat, and any that lasted a whole time-out, gives a full period; further small ones give back what
 * they took. Otherwise an event loop that stutters all the time would never let a hung worker be found.
 */
function forgive(delivery: Delivery, nowMs: number, lateMs: number): void {
  const { beatAtMs, graceFromMs, heartbeatTimeoutMs } = delivery;
  if (lateMs < heartbeatTimeoutMs / LOOKS) return;
  const first = graceFromMs <= beatAtMs;
  delivery.graceFromMs = first || lateMs >= heartbeatTimeoutMs ? nowMs : Math.min(nowMs, graceFromMs + lateMs);
}
