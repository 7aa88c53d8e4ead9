import { MAX_TIMER_MS, type JobRecord, type StorageAdapter } from '@orchd/storage';
import type { HandlerRegistry } from '../handler/handler.registry.js';
import { Pruner } from '../maintenance/pruner.js';
import { Reaper } from '../maintenance/reaper.js';
import { ClaimLoop } from './claim-loop.js';
import { Deadlines } from './deadlines.js';
import { LeaseKeeper } from './lease-keeper.js';
import { Monitor } from './monitor.js';
import { PoolCounters } from './pool-counters.js';
import { poolSettings, type PoolSettings, type WorkerPoolOptions } from './pool-options.js';
import { snapshotOf, type PoolSnapshot } from './pool-snapshot.js';
import { Runners } from './runners.js';
import { Settler } from './settler.js';
import { Workers } from './workers.js';

/** How long a shutdown waits for the storage to answer, once no handler is waited for. */
const LAST_ANSWERS_MS = 1000;

/**
 * The workers of this process: claims jobs for free workers, runs their handlers, ends the deliveries, and watches over all of it.
 *
 *     claim loop --> workers --> runner --> settler --> storage
 *                      ^ end(worker, reason)
 *                      +-- monitor (hung), deadlines (time-out, cancel), lease keeper (lease lost)
 *
 * Shutting down is in three steps, as in the phases of a Nest application: `drain`, `finish`, and then the storage is closed.
 */
export class WorkerPool {
  readonly #settings: PoolSettings;
  readonly #counters = new PoolCounters();
  readonly #settler: Settler;
  readonly #runners: Runners;
  readonly #workers: Workers;
  readonly #deadlines: Deadlines;
  readonly #monitor: Monitor;
  readonly #keeper: LeaseKeeper;
  readonly #reaper: Reaper;
  readonly #pruner: Pruner;
  readonly #loops = new Map<string, ClaimLoop>();
  #state: 'new' | 'running' | 'draining' | 'stopped' = 'new';
  #unsubscribe: (() => void) | null = null;
  #keepAlive: NodeJS.Timeout | null = null;
  #finishing: Promise<void> | null = null;
  #hurried = false;
  /** Looks whether what a shutdown waits for has come. */
  #look: (() => void) | null = null;

  /** Throws `invalid_argument` with the name of a bad option. */
  constructor(
    private readonly storage: StorageAdapter,
    private readonly registry: HandlerRegistry,
    options: WorkerPoolOptions = {},
  ) {
    const settings = (this.#settings = poolSettings(options));
    const look = (): void => this.#look?.();
    this.#settler = new Settler(storage, settings, this.#counters, look);
    this.#deadlines = new Deadlines(settings.clock, () => this.#workers);
    this.#runners = new Runners(settings, registry, () => {
      for (const loop of this.#loops.values()) loop.wake();
    });
    this.#workers = new Workers(settings, registry, this.#runners, this.#settler, this.#counters, {
      freed: (queue) => this.#loops.get(queue)!.wake(),
      deadline: (atMs) => this.#deadlines.watch(atMs),
    });
    this.#monitor = new Monitor(settings, registry, this.#workers);
    this.#keeper = new LeaseKeeper(settings, storage, this.#workers);
    this.#reaper = new Reaper(
      settings,
      storage,
      () => this.#keeper.extendAll(),
      (jobs) => (this.#counters.requeued += jobs),
    );
    this.#pruner = new Pruner(settings, storage, settings.keep);
    for (const queue of settings.queues.keys()) this.#loops.set(queue, this.#loop(queue, look));
  }

  /** From `drain` on; a pool is not started again. */
  get draining(): boolean {
    return this.#state === 'draining' || this.#state === 'stopped';
  }

  /**
   * After `finish`: there are threads that were killed and stand in native code. Node waits for these in `process.exit`, and only a signal
   * ends the process before they return.
   */
  get hasStuckThreads(): boolean {
    return this.#state === 'stopped' && this.#runners.threads > 0;
  }

  serves(queue: string): boolean {
    return this.#loops.has(queue);
  }

  handles(type: string): boolean {
    return this.registry.get(type) !== undefined;
  }

  snapshot(): PoolSnapshot {
    return snapshotOf(this.#workers, this.#counters, this.#state === 'running', this.#settings.clock.monoMs());
  }

  /** Begins to claim; the storage should be open. Does nothing the second time, or after `drain`. */
  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    // The clock's timers hold no process alive, and a long poll may not either; a process with workers has work to do.
    this.#keepAlive = setInterval(() => undefined, MAX_TIMER_MS);
    this.#unsubscribe = this.storage.subscribe((event) => {
      if (event.type === 'cancel_requested') this.#workers.cancel(event.lease);
    });
    if (this.#settings.healthCheck) this.#monitor.start();
    this.#keeper.start();
    this.#pruner.start();
    if (this.storage.capabilities.shared) this.#reaper.start();
    for (const loop of this.#loops.values()) loop.start();
  }

  /** Stops claiming. Running jobs go on, watched as before. */
  drain(): void {
    if (this.draining) return;
    this.#state = 'draining';
    for (const loop of this.#loops.values()) loop.stop();
  }

  /**
   * Resolves when every running job is over: by itself within the grace time, or given back, no attempt charged. Always resolves, at the
   * latest about a second after the grace time, also when the storage does not answer; what it could not be told is left to the leases.
   */
  finish(): Promise<void> {
    this.drain();
    this.#finishing ??= this.#finish();
    return this.#finishing;
  }

  /** Drains and finishes. */
  stop(): Promise<void> {
    return this.finish();
  }

  /** Ends the grace time now, or makes a later `finish` go without. */
  hurry(): void {
    this.#hurried = true;
    this.#look?.();
  }

  async #finish(): Promise<void> {
    const { shutdownGraceMs, log } = this.#settings;
    let maintained = false;
    // Not awaited: a tick may be waiting for a storage that is gone.
    void Promise.all([this.#reaper.stop(), this.#pruner.stop()]).then(() => {
      maintained = true;
      this.#look?.();
    });
    // What still waits for its thread has not begun and will not.
    for (const worker of this.#workers.busy()) if (!worker.delivery!.isEntered) this.#workers.end(worker, 'shutdown');
    await this.#until(() => this.#hurried || this.#quiet(), shutdownGraceMs);
    const unfinished = this.#workers.busy();
    if (unfinished.length > 0) log.warn(`${unfinished.length} running jobs are given back`);
    for (const worker of unfinished) this.#workers.end(worker, 'shutdown');
    await this.#until(() => this.#quiet() && this.#polls() === 0 && maintained, LAST_ANSWERS_MS);
    if (this.#settler.pending > 0) log.error(`the storage did not answer for ${this.#settler.pending} jobs`);
    await this.#close();
  }

  async #close(): Promise<void> {
    this.#state = 'stopped';
    this.#settler.close();
    this.#deadlines.stop();
    this.#unsubscribe?.();
    await Promise.all([this.#monitor.stop(), this.#keeper.stop(), this.#runners.close()]);
    if (this.#keepAlive) clearInterval(this.#keepAlive);
  }

  /** No handler runs and every end is known to the storage. */
  #quiet(): boolean {
    return this.#settler.pending === 0 && this.#workers.busy().length === 0;
  }

  #polls(): number {
    let polls = 0;
    for (const loop of this.#loops.values()) polls += loop.polls;
    return polls;
  }

  /** Resolves when the condition holds at a look, or after `ms`. */
  #until(holds: () => boolean, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        this.#look = null;
        cancel();
        resolve();
      };
      const cancel = this.#settings.clock.setTimer(ms, over);
      this.#look = () => void (holds() && over());
      this.#look();
    });
  }

  #loop(queue: string, ended: () => void): ClaimLoop {
    const { clock, leaseMs } = this.#settings;
    const workers = this.#workers;
    const runners = this.#runners;
    const settler = this.#settler;
    return new ClaimLoop(
      this.storage,
      this.#settings,
      {
        queue,
        size: this.#settings.queues.get(queue)!,
        get free() {
          return Math.min(workers.free(queue), runners.room(queue));
        },
        take(jobs: readonly JobRecord[]) {
          const leaseUntilMs = clock.monoMs() + leaseMs;
          for (const job of jobs) workers.begin(job, leaseUntilMs);
        },
        giveBack(jobs) {
          for (const job of jobs) settler.release(job);
        },
      },
      ended,
    );
  }
}
