import { systemClock, type JobRecord } from '@orchd/storage';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { HandlerOptions, RunIn } from '../../handler/handler.js';
import { HandlerRegistry } from '../../handler/handler.registry.js';
import type { JobRequest } from '../../job/job-request.js';
import { QueueService } from '../../queue.service.js';
import { FaultyStorage } from '../pool.fixture.js';
import type { WorkerPoolOptions } from '../pool-options.js';
import { WorkerPool } from '../worker-pool.js';

/** Only against code that hangs. */
const PATIENCE_MS = 20_000;
const LOOK_MS = 2;

/** A pool with real threads and processes, which know no manual clock: tests wait for what happens, however long that takes. */
export class IsolateFixture {
  readonly registry = new HandlerRegistry();
  readonly pool: WorkerPool;
  readonly queue: QueueService;
  readonly logged: string[] = [];
  readonly folder = mkdtempSync(join(tmpdir(), 'orchd-handlers-'));
  #modules = 0;

  private constructor(
    readonly storage: FaultyStorage,
    private readonly runIn: RunIn,
    options: WorkerPoolOptions,
  ) {
    const note = (message: string): void => void this.logged.push(message);
    const log = { debug: note, warn: note, error: note };
    this.pool = new WorkerPool(storage, this.registry, { log, shutdownGraceMs: 0, ...options });
    this.queue = new QueueService(storage, this.registry, { retryBaseMs: 1 }, this.pool);
    this.pool.start();
  }

  static async create(options: WorkerPoolOptions = {}, runIn: RunIn = 'thread'): Promise<IsolateFixture> {
    const storage = new FaultyStorage({ clock: systemClock });
    await storage.open();
    return new IsolateFixture(storage, runIn, options);
  }

  /** Registers the source of a module as the handler of a type. */
  handler(type: string, source: string, options: HandlerOptions = {}): URL {
    const url = this.module(source);
    this.registry.register(type, url, { runIn: this.runIn, ...options });
    return url;
  }

  module(source: string): URL {
    const file = join(this.folder, `handler-${++this.#modules}.mjs`);
    writeFileSync(file, source);
    return pathToFileURL(file);
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  touch(name: string): void {
    writeFileSync(this.file(name), '');
  }

  /** A new job of a handler that logs first, as soon as it runs. */
  async begun(type: string): Promise<string> {
    const id = await this.enqueue(type);
    await this.until(
      () => this.pool.snapshot().workers.busy === 1 && this.#heard(id),
      () => `job ${id} to begin`,
    );
    return id;
  }

  async #heard(id: string): Promise<boolean> {
    return (await this.storage.get(id))!.log.length > 0;
  }

  async enqueue(type: string, request: Partial<JobRequest> = {}): Promise<string> {
    return (await this.queue.enqueue({ ...request, type })).id;
  }

  done(id: string): Promise<JobRecord> {
    return this.inState(id, 'done');
  }

  dead(id: string): Promise<JobRecord> {
    return this.inState(id, 'dead');
  }

  async inState(id: string, state: JobRecord['state']): Promise<JobRecord> {
    let job = await this.storage.get(id);
    await this.until(
      async () => (job = await this.storage.get(id))!.state === state,
      () => `job ${id} to be ${state}: ${JSON.stringify(job)}`,
    );
    return job!;
  }

  async until(holds: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!(await holds())) {
      if (performance.now() > deadline) throw new Error(`waited in vain for ${what()}`);
      await setTimeout(LOOK_MS);
    }
  }

  async close(): Promise<void> {
    this.pool.hurry();
    await this.pool.stop();
    await this.storage.close();
    rmSync(this.folder, { recursive: true });
  }
}
