import { setImmediate } from 'node:timers/promises';
import type { JobCounts, StorageAdapter } from '@orchd/storage';
import type { ManualClock } from '@orchd/storage/testing';
import type { Job } from '../job/job.js';
import type { QueueService } from '../queue.service.js';
import type { WatchedStorage } from './watched-storage.js';

const FINAL: readonly string[] = ['done', 'dead', 'cancelled'];
/** A job that is due is taken within a turn or two of the event loop, or there is nobody who takes it. */
const PATIENCE_TURNS = 1000;

/**
 * Brings the jobs of a test to their end without waiting for time. The clock of queue, workers and storage is `clock`; it stands still
 * unless the test or one of the methods here moves it, and they move it only while no handler runs or could run, so that none is taken for hung.
 */
export class OrchdTesting {
  constructor(
    readonly clock: ManualClock,
    private readonly storage: WatchedStorage,
    private readonly queue: QueueService,
  ) {}

  /**
   * Resolves with the numbers of jobs by state when none is ready, due or active, those that handlers have enqueued included.
   *
   * @param options.delayed also moves the clock from one delayed job to the next until there is none: retries run, and so do jobs of next year
   */
  async drain({ delayed = false } = {}): Promise<JobCounts> {
    for (let turns = 0; ;) {
      const change = this.storage.change();
      const counts = await this.storage.counts();
      if (counts.active > 0) {
        await change;
        turns = 0;
      } else {
        const dueAt = counts.delayed > 0 ? await this.#nextDueAt() : Infinity;
        const isDue = dueAt <= this.clock.wallMs();
        if (counts.ready === 0 && !isDue && (!delayed || dueAt === Infinity)) return counts;
        if (counts.ready === 0 && !isDue) turns = 0;
        await this.#reach(counts.ready > 0 ? 0 : dueAt, ++turns, 'a job');
      }
    }
  }

  /**
   * Resolves with the job when it is done, dead or cancelled. Its delays and the backoff between its attempts cost no time: the clock is moved
   * over them. Rejects when there is no such job, or when nobody takes it.
   */
  async waitFor<P = unknown>(jobId: string): Promise<Job<P>> {
    for (let turns = 0; ;) {
      const change = this.storage.change();
      const job = await this.queue.get<P>(jobId);
      if (job === null) throw new Error(`there is no job ${jobId}`);
      if (FINAL.includes(job.state)) return job;
      const { active, ready } = await this.storage.counts();
      if (active > 0) {
        await change;
        turns = 0;
      } else if (ready === 0 && job.state === 'delayed') {
        if (job.runAt > this.clock.wallMs()) turns = 0;
        await this.#reach(job.runAt, ++turns, `job ${jobId}`);
      } else {
        await this.#turn(++turns, `job ${jobId}`);
      }
    }
  }

  async #reach(dueAt: number, turns: number, what: string): Promise<void> {
    const ms = Math.ceil(dueAt - this.clock.wallMs());
    if (ms > 0) this.clock.advance(ms);
    await this.#turn(turns, what);
  }

  async #turn(turns: number, what: string): Promise<void> {
    if (turns > PATIENCE_TURNS) throw new Error(`nobody takes ${what}: is its queue served, and the application initialized?`);
    await setImmediate();
  }

  async #nextDueAt(): Promise<number> {
    let dueAt = Infinity;
    for (let cursor: string | undefined; ;) {
      const page: Awaited<ReturnType<StorageAdapter['list']>> = await this.storage.list({ state: 'delayed', limit: 1000, cursor });
      for (const job of page.jobs) dueAt = Math.min(dueAt, job.runAt);
      if (page.nextCursor === null) return dueAt;
      cursor = page.nextCursor;
    }
  }
}
