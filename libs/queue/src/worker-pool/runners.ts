import type { RunIn } from '../handler/handler.js';
import type { HandlerRegistry } from '../handler/handler.registry.js';
import type { Delivery } from './delivery.js';
import { InlineRunner } from './inline.runner.js';
import { Child } from './isolate/child.js';
import { IsolateRunner } from './isolate/isolate.runner.js';
import { Thread } from './isolate/thread.js';
import type { PoolSettings } from './pool-options.js';
import type { Runner } from './runner.js';

/** Sends each delivery to where its handler runs. */
export class Runners implements Runner {
  readonly #threads: IsolateRunner;
  readonly #processes: IsolateRunner;
  readonly #byPlace: Record<RunIn, Runner>;

  constructor(
    { clock, log, heartbeatTimeoutMs, queues, threads }: PoolSettings,
    private readonly registry: HandlerRegistry,
    /** There may be room for another delivery where there was none. */
    roomier: () => void,
  ) {
    const shared = { clock, log, heartbeatTimeoutMs, roomier };
    let slots = 0;
    for (const size of queues.values()) slots += size;
    this.#threads = new IsolateRunner({ ...shared, limit: threads, create: (...args) => new Thread(...args) });
    this.#processes = new IsolateRunner({ ...shared, limit: slots, create: (...args) => new Child(...args) });
    this.#byPlace = { inline: new InlineRunner(), thread: this.#threads, process: this.#processes };
  }

  run(delivery: Delivery): unknown {
    return this.#byPlace[delivery.handler.runIn].run(delivery);
  }

  terminate(delivery: Delivery): void {
    this.#byPlace[delivery.handler.runIn].terminate(delivery);
  }

  /** How many jobs of the queue could be run at once; those that would only wait for a thread are better left to another process. */
  room(queue: string): number {
    let onlyThreads = false;
    for (const { options, runIn } of this.registry.all()) {
      if ((options.queue ?? 'default') !== queue) continue;
      if (runIn !== 'thread') return Infinity;
      onlyThreads = true;
    }
    return onlyThreads ? this.#threads.room : Infinity;
  }

  get threads(): number {
    return this.#threads.alive;
  }

  /** Resolves when no thread and no process is left, but those that do not end although they were killed. */
  async close(): Promise<void> {
    await Promise.all([this.#threads.close(), this.#processes.close()]);
  }
}
