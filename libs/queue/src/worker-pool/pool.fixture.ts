import { setImmediate } from 'node:timers/promises';
import type { JobRecord, Lease, NewJob, StorageCapabilities } from '@orchd/storage';
import { MemoryStorageAdapter } from '@orchd/storage/memory';
import { ManualClock } from '@orchd/storage/testing';
import type { HandlerOptions, JobContext } from '../handler/handler.js';
import { HandlerRegistry } from '../handler/handler.registry.js';
import type { Job } from '../job/job.js';
import type { JobRequest } from '../job/job-request.js';
import { QueueService } from '../queue.service.js';
import type { WorkerPoolOptions } from './pool-options.js';
import { WorkerPool } from './worker-pool.js';

/** A clock that can also stand for a process that slept: `stall` moves time, but no timer fires before the next `advance`. */
export class StallingClock extends ManualClock {
  #stalledMs = 0;

  override monoMs(): number {
    return super.monoMs() + this.#stalledMs;
  }

  stall(ms: number): void {
    this.#stalledMs += ms;
  }
}

export type Verb = 'claim' | 'extend' | 'ack' | 'nack' | 'release' | 'requeue';

/** Memory storage whose verbs can be made to fail, or never to answer, and which counts what reaches it. */
export class FaultyStorage extends MemoryStorageAdapter {
  override capabilities: StorageCapabilities = { kind: 'memory', durability: 'memory', shared: false, persistent: false };
  readonly calls: Record<Verb, number> = { claim: 0, extend: 0, ack: 0, nack: 0, release: 0, requeue: 0 };
  readonly #faults = new Map<Verb, () => Promise<never>>();

  share(): void {
    this.capabilities = { ...this.capabilities, shared: true };
  }

  fail(verb: Verb, error: Error): void {
    this.#faults.set(verb, () => Promise.reject(error));
  }

  hang(verb: Verb): void {
    this.#faults.set(verb, () => new Promise(() => undefined));
  }

  heal(verb: Verb): void {
    this.#faults.delete(verb);
  }

  override claim(...args: Parameters<MemoryStorageAdapter['claim']>) {
    return this.#call('claim', () => super.claim(...args));
  }
  override extend(...args: Parameters<MemoryStorageAdapter['extend']>) {
    return this.#call('extend', () => super.extend(...args));
  }
  override ack(...args: Parameters<MemoryStorageAdapter['ack']>) {
    return this.#call('ack', () => super.ack(...args));
  }
  override nack(...args: Parameters<MemoryStorageAdapter['nack']>) {
    return this.#call('nack', () => super.nack(...args));
  }
  override release(...args: Parameters<MemoryStorageAdapter['release']>) {
    return this.#call('release', () => super.release(...args));
  }
  override requeue(...args: Parameters<MemoryStorageAdapter['requeue']>) {
    return this.#call('requeue', () => super.requeue(...args));
  }

  #call<T>(verb: Verb, act: () => Promise<T>): Promise<T> {
    this.calls[verb]++;
    return this.#faults.get(verb)?.() ?? act();
  }
}

/** A handler that has been entered and waits for the test to let it go. */
export interface Entry {
  readonly job: Job;
  readonly ctx: JobContext;
  readonly lease: Lease;
  resolve(value?: unknown): void;
  reject(error?: unknown): void;
}

export class PoolFixture {
  readonly registry = new HandlerRegistry();
  readonly pool: WorkerPool;
  readonly queue: QueueService;
  readonly entries: Entry[] = [];
  readonly logged: string[] = [];
  /** The highest number of handlers at once that the pool had not given up. */
  mostBusy = 0;

  private constructor(
    readonly storage: FaultyStorage,
    readonly clock: StallingClock,
    options: WorkerPoolOptions,
  ) {
    const note = (message: string): void => void this.logged.push(message);
    const log = { debug: note, warn: note, error: note };
    this.pool = new WorkerPool(storage, this.registry, { clock, random: () => 0, log, shutdownGraceMs: 0, ...options });
    this.queue = new QueueService(storage, this.registry, {}, this.pool);
  }

  /** Time stands still but for `clock.advance`. */
  static async create(options: WorkerPoolOptions = {}): Promise<PoolFixture> {
    const clock = new StallingClock();
    const storage = new FaultyStorage({ clock, random: () => 0 });
    await storage.open();
    return new PoolFixture(storage, clock, options);
  }

  /** Registers a handler whose every call becomes an {@link Entry}. */
  handle(type: string, options?: HandlerOptions): void {
    this.registry.register(
      type,
      (job, ctx) =>
        new Promise((resolve, reject: (error: unknown) => void) => {
          this.mostBusy = Math.max(this.mostBusy, this.pool.snapshot().workers.busy);
          this.entries.push({ job, ctx, lease: { id: job.id, epoch: ctx.epoch }, resolve, reject });
        }),
      options,
    );
  }

  async enqueue(type: string, request: Partial<JobRequest> = {}): Promise<string> {
    return (await this.queue.enqueue({ ...request, type })).id;
  }

  /** Past the queue, which would refuse it. */
  async enqueueRaw(job: Partial<NewJob>): Promise<string> {
    const [outcome] = await this.storage.enqueue([{ queue: 'default', type: 'job', payload: 'null', ...job }]);
    return outcome!.id;
  }

  /** The n-th entry (1 = first), as soon as its handler is entered. */
  async entry(n: number): Promise<Entry> {
    await until(() => this.entries.length >= n, `handler ${n} to be entered`);
    return this.entries[n - 1]!;
  }

  async record(id: string): Promise<JobRecord> {
    return (await this.storage.get(id))!;
  }

  /** The job, as soon as it is in this state. */
  async inState(id: string, state: JobRecord['state']): Promise<JobRecord> {
    let record = await this.record(id);
    await until(async () => (record = await this.record(id)).state === state, `job to be ${state}, it is ${record.state}`);
    return record;
  }

  async close(): Promise<void> {
    this.pool.hurry();
    const stopped = this.pool.stop();
    await turns(5);
    // Time for a storage that does not answer.
    this.clock.advance(2000);
    await stopped;
    await this.storage.close();
  }
}

/** Lets what is already under way happen: promises, and what was put off to the end of the turn. */
export async function turns(n = 3): Promise<void> {
  for (let i = 0; i < n; i++) await setImmediate();
}

/** Waits for something that needs no time to pass, or (in real time) at most some seconds. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 4000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await setImmediate();
  }
}
