import { DiscardJob, HandlerRegistry, QueueService, SnoozeJob, WorkerPool, type Job, type JobContext } from '@orchd/queue';
import { hasCode, type StorageAdapter } from '@orchd/storage';
import type { ManualClock } from '@orchd/storage/testing';
import { WalStorageAdapter } from '@orchd/storage/wal';
import { MemoryFileSystem } from '../../libs/storage/src/adapters/wal/log/memory-file-system.fixture.js';
import type { MemoryDisk } from '../../libs/storage/src/adapters/wal/log/memory-disk.fixture.js';
import type { SimulatedLedger } from './simulated-ledger.js';

const WORKERS = 4;
const HB_TIMEOUT_MS = 200;
const GRACE_MS = 300;
const LONGEST_WORK_MS = 3 * HB_TIMEOUT_MS;

export interface Surroundings {
  readonly disk: MemoryDisk;
  readonly clock: ManualClock;
  readonly random: () => number;
  readonly ledger: SimulatedLedger;
  readonly segmentBytes: number;
}

/** One process of a round: storage, pool and queue on the round's disk and clock, with handlers that work, fail, hang, or give up at random. */
export class SimulatedBoot {
  readonly fs: MemoryFileSystem;
  readonly queue: QueueService;
  /** The process is no more; what its remains still say is heard by nobody. */
  dead = false;
  /** From now on every handler succeeds. */
  kind = false;
  readonly #storage: StorageAdapter;
  readonly #pool: WorkerPool;

  constructor(private readonly world: Surroundings) {
    const { disk, clock, random, segmentBytes } = world;
    this.fs = new MemoryFileSystem(disk);
    this.#storage = new WalStorageAdapter({ dir: '/data', fs: this.fs, clock, random, segmentBytes });
    const registry = new HandlerRegistry();
    registry.register('work', (job, ctx) => this.#work(job, ctx));
    const keepAll = { keepFinishedMs: 0, keepFinished: 0, keepDeadMs: 0 };
    const times = { heartbeatTimeoutMs: HB_TIMEOUT_MS, leaseMs: 1000, shutdownGraceMs: GRACE_MS };
    this.#pool = new WorkerPool(this.#storage, registry, { workers: WORKERS, ...times, ...keepAll, clock, random });
    this.queue = new QueueService(this.#storage, registry, { retryCapMs: 1000 }, this.#pool);
  }

  get storage(): StorageAdapter {
    return this.#storage;
  }

  async open(): Promise<void> {
    await this.#storage.open();
    this.#pool.start();
  }

  /** Ends in order, or clears away what a crash has left. Time passes until it is over. */
  async end(): Promise<void> {
    let over = false;
    const ended = this.#pool
      .stop()
      .then(() => this.#storage.close())
      .catch((error: unknown) => {
        if (!this.dead) throw error;
      })
      .finally(() => (over = true));
    while (!over) await this.pass(20);
    await ended;
  }

  /** Lets time pass, and everything happen that it brings about. */
  async pass(ms: number): Promise<void> {
    this.world.clock.advance(ms);
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  async #work(job: Job, ctx: JobContext): Promise<unknown> {
    const { random, ledger } = this.world;
    if (!this.dead) ledger.delivered(job.id, ctx.epoch);
    if (this.kind) return { epoch: ctx.epoch };
    const chance = random();
    if (chance < 0.04) return new Promise(() => undefined);
    if (chance < 0.1) await this.#silence(HB_TIMEOUT_MS * (1 + 3 * random()));
    await this.#workFor(Math.floor(random() * LONGEST_WORK_MS), ctx);
    if (chance < 0.3) throw new Error('not now');
    if (chance < 0.34) throw new DiscardJob('never');
    if (chance < 0.4) throw new SnoozeJob(1 + Math.floor(random() * 500));
    return { epoch: ctx.epoch };
  }

  /** Hangs, and comes back when the job may long be somebody else's. */
  #silence(ms: number): Promise<void> {
    return new Promise((resolve) => void this.world.clock.setTimer(ms, resolve));
  }

  /** Beats often enough, until the work is done or nobody wants it any more. */
  async #workFor(ms: number, ctx: JobContext): Promise<void> {
    for (let left = ms; left > 0 && !ctx.signal.aborted; left -= HB_TIMEOUT_MS / 2) {
      await new Promise<void>((resolve) => void this.world.clock.setTimer(Math.min(left, HB_TIMEOUT_MS / 2), resolve));
      if (left === ms) ctx.progress(50, 'half way');
      else ctx.heartbeat();
    }
  }
}

/** R15: the answers that promise that nothing was done. */
export function isRefusal(error: unknown): boolean {
  return (['storage_unavailable', 'storage_full', 'storage_busy', 'draining', 'starting', 'not_open', 'conflict'] as const).some((code) =>
    hasCode(error, code),
  );
}
