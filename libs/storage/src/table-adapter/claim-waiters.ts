import type { ClaimRequest, Clock, JobRecord } from '../contract/index.js';

interface Waiter {
  readonly request: ClaimRequest;
  readonly finish: (jobs: JobRecord[] | Promise<JobRecord[]>) => void;
}

/** Claims that found nothing, first come, first served within a queue; each ends with jobs, with its time, or with its signal. */
export class ClaimWaiters {
  readonly #queues = new Map<string, Set<Waiter>>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  queues(): string[] {
    return [...this.#queues.keys()];
  }

  wait(request: ClaimRequest, waitMs: number): Promise<JobRecord[]> {
    return new Promise((resolve) => {
      const end = () => waiter.finish([]);
      const stopTimer = this.#clock.setTimer(waitMs, end);
      request.signal?.addEventListener('abort', end, { once: true });
      const waiter: Waiter = {
        request,
        finish: (jobs) => {
          stopTimer();
          request.signal?.removeEventListener('abort', end);
          this.#remove(waiter);
          resolve(jobs);
        },
      };
      const waiters = this.#queues.get(request.queue);
      if (waiters === undefined) this.#queues.set(request.queue, new Set([waiter]));
      else waiters.add(waiter);
    });
  }

  /** Offers the waiters of a queue, in order, what `take` finds for them, until it finds nothing. */
  serve(queue: string, take: (request: ClaimRequest) => Promise<JobRecord[]> | null): void {
    for (const waiter of this.#queues.get(queue) ?? []) {
      const jobs = take(waiter.request);
      if (jobs === null) return;
      waiter.finish(jobs);
    }
  }

  /** All of them go away with nothing. */
  dismiss(): void {
    for (const waiters of this.#queues.values()) for (const waiter of waiters) waiter.finish([]);
  }

  #remove(waiter: Waiter): void {
    const waiters = this.#queues.get(waiter.request.queue);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#queues.delete(waiter.request.queue);
  }
}
