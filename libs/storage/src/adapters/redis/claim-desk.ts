import { hasCode, type ClaimRequest, type Clock, type JobRecord } from '../../contract/index.js';
import { MAX_WEIGHT, type Lane } from './lane.js';

/** One hand-out asked of the claim script. */
export interface ClaimOp {
  readonly queue: string;
  readonly limit: number;
  readonly leaseMs: number;
  readonly owner: string;
  /** Due jobs are promoted once for each claim of the contract. */
  readonly promote: boolean;
}

/** Where the lanes of a queue end: entries behind that are news. Priority and entry id. */
export type LaneEnds = readonly (readonly [priority: string, entry: string])[];

export interface ClaimReply {
  readonly jobs: readonly JobRecord[];
  /** Ms until the next delayed job is due, null for none or unknown. */
  readonly untilDueMs: number | null;
  readonly ends: LaneEnds;
}

export interface ClaimDeskOptions {
  readonly lane: Lane<ClaimOp, ClaimReply>;
  readonly clock: Clock;
  /** Jobs were handed out; asked for at that time. */
  readonly handedOut: (jobs: readonly JobRecord[], leaseMs: number, sentAtMs: number) => void;
  /** Jobs that arrived after their claim had been aborted. */
  readonly giveBack: (jobs: readonly JobRecord[]) => void;
  /** A claim waits: ring when something comes behind these ends. */
  readonly watch: (queue: string, ends: LaneEnds) => void;
}

const NOTHING: ClaimReply = { jobs: [], untilDueMs: null, ends: [] };

interface Waiter {
  readonly queue: string;
  /** True: look again; false: go away with nothing. */
  readonly wake: (again: boolean) => void;
}

/** Where claims wait: each asks Redis, and asks again when the bell rings for its queue or a delayed job is due. */
export class ClaimDesk {
  readonly #options: ClaimDeskOptions;
  readonly #waiters = new Set<Waiter>();
  /** Rings so far: a ring that comes while the answer "nothing" is on its way must not be lost. */
  readonly #rings = new Map<string, number>();
  #allRings = 0;
  #open = false;
  #dueAtMs = Infinity;
  #cancelDue: () => void = () => undefined;

  constructor(options: ClaimDeskOptions) {
    this.#options = options;
  }

  async claim(request: ClaimRequest): Promise<JobRecord[]> {
    const { queue, signal } = request;
    const deadlineMs = this.#options.clock.monoMs() + (request.waitMs ?? 0);
    for (let asked = 0; !signal?.aborted; asked++) {
      const rings = this.#ringsOf(queue);
      const reply = await this.#ask(request).catch((error: unknown) => {
        // Who waits already goes on waiting while Redis is away; the bell rings when it is back.
        if (asked === 0 || !isOutage(error)) throw error;
        return NOTHING;
      });
      if (reply === null) return [];
      if (reply.jobs.length > 0) return [...reply.jobs];
      const restMs = deadlineMs - this.#options.clock.monoMs();
      if (restMs <= 0 || !this.#open) return [];
      if (rings !== this.#ringsOf(queue)) continue;
      if (reply.untilDueMs !== null) this.#ringWhenDue(reply.untilDueMs);
      const waiting = this.#wait(queue, restMs, signal);
      this.#options.watch(queue, reply.ends);
      if (!(await waiting)) return [];
    }
    return [];
  }

  /** Something came for this queue. */
  ring(queue: string): void {
    this.#rings.set(queue, (this.#rings.get(queue) ?? 0) + 1);
    this.#wake((waiter) => waiter.queue === queue, true);
  }

  /** Something may have come for any queue. */
  ringAll(): void {
    this.#allRings++;
    this.#wake(() => true, true);
  }

  open(): void {
    this.#open = true;
  }

  /** All that wait go away with nothing, and nobody waits any more. */
  close(): void {
    this.#open = false;
    this.#cancelDue();
    this.#dueAtMs = Infinity;
    this.#wake(() => true, false);
  }

  #wake(chosen: (waiter: Waiter) => boolean, again: boolean): void {
    for (const waiter of [...this.#waiters]) if (chosen(waiter)) waiter.wake(again);
  }

  /** Null when the claim was aborted meanwhile; what then still arrives is given back. */
  #ask(request: ClaimRequest): Promise<ClaimReply | null> {
    const { signal } = request;
    const asking = this.#takeAll(request);
    if (signal === undefined) return asking;
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        resolve(null);
        asking.then(({ jobs }) => this.#options.giveBack(jobs)).catch(() => undefined);
      };
      signal.addEventListener('abort', abort, { once: true });
      asking.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    });
  }

  /** A large claim is several hand-outs, so that none holds Redis up; it ends with the first that finds less than it asked for. */
  async #takeAll({ queue, limit, leaseMs, owner }: ClaimRequest): Promise<ClaimReply> {
    const jobs: JobRecord[] = [];
    for (;;) {
      const asked = Math.min(MAX_WEIGHT, limit - jobs.length);
      const sentAtMs = this.#options.clock.monoMs();
      let reply: ClaimReply;
      try {
        reply = await this.#options.lane.push({ queue, limit: asked, leaseMs, owner, promote: jobs.length === 0 });
      } catch (error) {
        if (jobs.length > 0) return { ...NOTHING, jobs };
        throw error;
      }
      this.#options.handedOut(reply.jobs, leaseMs, sentAtMs);
      if (jobs.length === 0 && reply.jobs.length < asked) return reply;
      jobs.push(...reply.jobs);
      if (reply.jobs.length < asked || jobs.length === limit) return { ...reply, jobs };
    }
  }

  /** Resolves with true when it is worth asking again, with false when time, signal or closing ended the wait. */
  #wait(queue: string, ms: number, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const deadlineMs = this.#options.clock.monoMs() + ms;
      let cancelTimer = (): void => undefined;
      const end = (): void => waiter.wake(false);
      const waiter: Waiter = {
        queue,
        wake: (again) => {
          cancelTimer();
          signal?.removeEventListener('abort', end);
          this.#waiters.delete(waiter);
          resolve(again);
        },
      };
      // A timer is cut to what Node can hold: then it fires early and is set again (case D01).
      const look = (): void => {
        const rest = deadlineMs - this.#options.clock.monoMs();
        if (rest > 0) cancelTimer = this.#options.clock.setTimer(rest, look);
        else end();
      };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', end, { once: true });
      look();
    });
  }

  /** One timer for the earliest due job; the claims it wakes learn the next due time and set it again. */
  #ringWhenDue(ms: number): void {
    const dueAtMs = this.#options.clock.monoMs() + Math.max(0, ms);
    if (dueAtMs >= this.#dueAtMs) return;
    this.#cancelDue();
    this.#dueAtMs = dueAtMs;
    this.#cancelDue = this.#options.clock.setTimer(Math.max(0, ms), () => {
      this.#dueAtMs = Infinity;
      this.ringAll();
    });
  }

  #ringsOf(queue: string): number {
    return (this.#rings.get(queue) ?? 0) + this.#allRings;
  }
}

function isOutage(error: unknown): boolean {
  return hasCode(error, 'storage_unavailable') || hasCode(error, 'outcome_unknown');
}
