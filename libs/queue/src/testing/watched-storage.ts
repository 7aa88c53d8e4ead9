import type { CheckedJob, EnqueueOutcome, JobError, JobRecord, Lease, NackDisposition, RequeueReason } from '@orchd/storage';
import { MemoryStorageAdapter } from '@orchd/storage/memory';

/** Jobs in memory, and word of everything that becomes of one. */
export class WatchedStorage extends MemoryStorageAdapter {
  #waiting: (() => void)[] = [];

  /** Resolves when, from now on, a job is enqueued, ends a delivery, or is cancelled. */
  change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  protected override doEnqueue(jobs: readonly CheckedJob[]): Promise<EnqueueOutcome[]> {
    return this.#told(super.doEnqueue(jobs));
  }

  protected override doAck(lease: Lease, result: string | null): Promise<void> {
    return this.#told(super.doAck(lease, result));
  }

  protected override doNack(lease: Lease, error: JobError, disposition: NackDisposition): Promise<void> {
    return this.#told(super.doNack(lease, error, disposition));
  }

  protected override doRelease(lease: Lease, inMs: number): Promise<void> {
    return this.#told(super.doRelease(lease, inMs));
  }

  protected override doRequeue(lease: Lease, reason: RequeueReason): Promise<void> {
    return this.#told(super.doRequeue(lease, reason));
  }

  protected override doCancel(id: string): Promise<JobRecord> {
    return this.#told(super.doCancel(id));
  }

  async #told<T>(outcome: Promise<T>): Promise<T> {
    try {
      return await outcome;
    } finally {
      for (const resolve of this.#waiting.splice(0)) resolve();
    }
  }
}
