import type { ExtendOutcome, ExtendRequest, StorageAdapter } from '@orchd/storage';
import { PeriodicService } from '../maintenance/periodic-service.js';
import { inWords } from '../maintenance/log.js';
import type { Delivery } from './delivery.js';
import type { PoolSettings } from './pool-options.js';
import type { Worker } from './worker.js';
import type { Workers } from './workers.js';

/** Notes of a job go to the storage at most so often. */
const NOTES_MS = 1000;

/**
 * Keeps the leases of all running jobs, with one call for the process: every third of a lease, and each second for jobs with new notes.
 * Learns here that a lease was lost or a cancel requested. On a storage that other processes share, a worker whose lease could not be
 * prolonged is stopped while it still holds: after that the job may be somebody else's.
 */
export class LeaseKeeper extends PeriodicService {
  protected readonly name = 'lease keeper';
  /** An extend that is not answered, as when the storage is gone, must not keep the next look away: it is not awaited. */
  #inFlight: Promise<void> | null = null;
  #complained = false;

  constructor(
    private readonly settings: PoolSettings,
    private readonly storage: StorageAdapter,
    private readonly workers: Workers,
  ) {
    super(settings);
  }

  protected intervalMs(): number {
    return Math.min(NOTES_MS, this.settings.leaseMs / 3);
  }

  protected tick(_signal: AbortSignal, lateMs: number): void {
    const nowMs = this.clock.monoMs();
    // After a long sleep the storage is asked first: it may well have kept the leases (R8).
    if (lateMs < this.intervalMs()) this.#stopOverdue(nowMs);
    if (this.#inFlight) return;
    const dueMs = nowMs + (this.settings.leaseMs * 2) / 3 + this.intervalMs() / 2;
    const due = this.workers.busy().filter(({ delivery }) => delivery!.leaseUntilMs <= dueMs || hasNotes(delivery!, nowMs));
    if (due.length > 0) void this.#extend(due, nowMs);
  }

  /** Resolves when the storage has answered for all leases of this process, or could not. */
  async extendAll(): Promise<void> {
    await this.#inFlight;
    const busy = this.workers.busy();
    if (busy.length > 0) await this.#extend(busy, this.clock.monoMs());
  }

  #extend(workers: readonly Worker[], nowMs: number): Promise<void> {
    // Kept beside the requests: a worker may have gone on to another job when the answer comes.
    const deliveries = workers.map(({ delivery }) => delivery!);
    const work = this.storage
      .extend(
        deliveries.map((delivery) => request(delivery, nowMs)),
        this.settings.leaseMs,
      )
      .then((outcomes) => {
        this.#complained = false;
        workers.forEach((worker, i) => this.#apply(worker, deliveries[i]!, outcomes[i]!, nowMs));
      })
      .catch((error: unknown) => this.#complain(error))
      .finally(() => (this.#inFlight = null));
    this.#inFlight = work;
    return work;
  }

  #apply(worker: Worker, delivery: Delivery, outcome: ExtendOutcome, sentAtMs: number): void {
    if (worker.delivery !== delivery) return;
    if (outcome === 'lost') return this.workers.end(worker, 'lease_lost');
    delivery.leaseUntilMs = sentAtMs + this.settings.leaseMs;
    if (outcome === 'cancel_requested') this.workers.cancel(delivery.job);
  }

  #stopOverdue(nowMs: number): void {
    if (!this.storage.capabilities.shared) return;
    // The next look must still be early enough.
    const marginMs = this.intervalMs() * 1.1;
    for (const worker of this.workers.busy()) {
      if (worker.delivery!.leaseUntilMs - marginMs > nowMs) continue;
      this.log.warn(`the lease of job ${worker.delivery!.job.id} could not be prolonged: its worker ${worker.id} is stopped`);
      this.workers.end(worker, 'lease_lost');
    }
  }

  #complain(error: unknown): void {
    if (!this.#complained) this.log.warn(`leases cannot be prolonged, trying again: ${inWords(error)}`);
    this.#complained = true;
  }
}

function hasNotes({ notes, notedAtMs }: Delivery, nowMs: number): boolean {
  return notes !== null && !notes.empty && nowMs - notedAtMs >= NOTES_MS;
}

function request(delivery: Delivery, nowMs: number): ExtendRequest {
  if (!hasNotes(delivery, nowMs)) return { lease: delivery.job };
  delivery.notedAtMs = nowMs;
  return { lease: delivery.job, ...delivery.notes!.take() };
}
