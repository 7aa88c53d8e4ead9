import type { CallWindow } from './call-window.js';

/** How one kind of call is sent, many at a time. */
export interface LaneOptions<Op, Reply> {
  /** Shared with the other lanes of the connection. */
  readonly window: CallWindow;
  /** Sends the ops as one script call; resolves when it is answered, with what reads the answer: one reply for each, in order. */
  readonly send: (ops: readonly Op[]) => Promise<() => readonly Reply[]>;
  /** What counts towards the size of a call: its jobs, or more where they are large. */
  readonly weigh: (op: Op) => number;
}

interface Waiting<Op, Reply> {
  readonly op: Op;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

/** Jobs in one script call: long enough to be cheap, short enough not to hold Redis up for others. An op that is larger goes alone. */
export const MAX_WEIGHT = 256;
/** Less makes calls that cost more than what they do. */
const WORTH_HALVING = 8;

/**
 * Collects what arrives in one turn of the event loop, and until there is room for a call, and sends it as one script call, or as two where
 * it is much. Invariant: ops leave in the order in which they came, and Redis runs the calls of one connection in the order in which they
 * were sent.
 */
export class Lane<Op, Reply> {
  readonly #options: LaneOptions<Op, Reply>;
  #waiting: Waiting<Op, Reply>[] = [];
  #first = 0;
  #inFlight = 0;
  #scheduled = false;
  /** Asked for room, and not yet let in. */
  #entering = false;
  #idle: (() => void)[] = [];

  constructor(options: LaneOptions<Op, Reply>) {
    this.#options = options;
  }

  push(op: Op): Promise<Reply> {
    return new Promise<Reply>((resolve, reject) => {
      this.#waiting.push({ op, resolve, reject });
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(this.#flush);
    });
  }

  /** Resolves when every op that came was answered. */
  idle(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  get #isIdle(): boolean {
    return this.#inFlight === 0 && this.#first === this.#waiting.length;
  }

  readonly #flush = (): void => {
    this.#scheduled = false;
    this.#enter();
  };

  #enter(): void {
    if (this.#entering || this.#first === this.#waiting.length) return;
    this.#entering = true;
    this.#options.window.enter(this.#send);
  }

  readonly #send = async (): Promise<void> => {
    this.#entering = false;
    this.#inFlight++;
    const batch = this.#take();
    // What waits already is sent before the answers are read, so that Redis has work meanwhile.
    const answered = this.#options.send(batch.map(({ op }) => op)).finally(() => this.#options.window.leave());
    this.#enter();
    try {
      const replies = (await answered)();
      batch.forEach(({ resolve }, i) => resolve(replies[i]!));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.#inFlight--;
    if (this.#isIdle) for (const resolve of this.#idle.splice(0)) resolve();
  };

  /** What waits, or half of it, so that there are two calls on their way. */
  #take(): Waiting<Op, Reply>[] {
    const { weigh, window } = this.#options;
    const waiting = this.#waiting.length - this.#first;
    const most = window.wantsTwo && this.#isWorthHalving() ? Math.ceil(waiting / 2) : waiting;
    let end = this.#first;
    let weight = 0;
    do weight += weigh(this.#waiting[end++]!.op);
    while (end < this.#first + most && weight + weigh(this.#waiting[end]!.op) <= MAX_WEIGHT);
    const batch = this.#waiting.slice(this.#first, end);
    this.#first = end;
    if (end === this.#waiting.length) {
      this.#waiting = [];
      this.#first = 0;
    }
    return batch;
  }

  #isWorthHalving(): boolean {
    let weight = 0;
    for (let at = this.#first; at < this.#waiting.length; at++) {
      weight += this.#options.weigh(this.#waiting[at]!.op);
      if (weight >= WORTH_HALVING) return true;
    }
    return false;
  }
}
