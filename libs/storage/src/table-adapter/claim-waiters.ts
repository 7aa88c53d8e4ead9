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
      const deadline = this.#clock.monoMs() + waitMs;
      let stopTimer = (): void => undefined;
      const end = () => waiter.finish([]);
      const waiter: Waiter = {
        request,
        finish: (jobs) => {
          stopTimer();
          request.signal?.removeEventListener('abort', end);
          this.#remove(waiter);
          resolve(jobs);
        },
      };
      // A timer is cut to what Node can hold: then it fires early and is set again (case D01).
      const look = (): void => {
        const rest = deadline - this.#clock.monoMs();
        if (rest > 0) stopTimer = this.#clock.setTimer(rest, look);
        else end();
      };
      look();
      request.signal?.addEventListener('abort', end, { once: true });
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
