/** How one kind of call is sent, many at a time. */
export interface LaneOptions<Op, Reply> {
  /** Sends the ops as one script call; resolves with one reply for each, in order. */
  readonly send: (ops: readonly Op[]) => Promise<readonly Reply[]>;
  /** What counts towards the size of a call: its jobs, or more where they are large. */
  readonly weigh: (op: Op) => number;
  /** Whether a second call costs little: not where Redis syncs for each. */
  readonly mayHalve: () => boolean;
}

interface Waiting<Op, Reply> {
  readonly op: Op;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

/** Jobs in one script call: long enough to be cheap, short enough not to hold Redis up for others. An op that is larger goes alone. */
export const MAX_WEIGHT = 256;
/** More would only wait in Redis instead of here, where they still can join a call. */
const MAX_IN_FLIGHT = 2;
/** Fewer ops make calls that cost more than what they do. */
const WORTH_HALVING = 8;

/**
 * Collects what arrives in one turn of the event loop and sends it as one script call, or as two where it is much. Invariant: ops leave in
 * the order in which they came, and Redis runs the calls of one connection in the order in which they were sent.
 */
export class Lane<Op, Reply> {
  readonly #options: LaneOptions<Op, Reply>;
  #waiting: Waiting<Op, Reply>[] = [];
  #first = 0;
  #inFlight = 0;
  #scheduled = false;
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
    while (this.#inFlight < MAX_IN_FLIGHT && this.#first < this.#waiting.length) void this.#send(this.#take());
    if (this.#isIdle) for (const resolve of this.#idle.splice(0)) resolve();
  };

  /** What waits, or, when nothing is in flight, half of it: so Redis has work while the answers to the other half are read. */
  #take(): Waiting<Op, Reply>[] {
    const waiting = this.#waiting.length - this.#first;
    const halves = this.#inFlight === 0 && waiting >= WORTH_HALVING && this.#options.mayHalve();
    const most = halves ? Math.ceil(waiting / MAX_IN_FLIGHT) : waiting;
    let end = this.#first;
    let weight = 0;
    do weight += this.#options.weigh(this.#waiting[end++]!.op);
    while (end < this.#first + most && weight + this.#options.weigh(this.#waiting[end]!.op) <= MAX_WEIGHT);
    const batch = this.#waiting.slice(this.#first, end);
    this.#first = end;
    if (end === this.#waiting.length) {
      this.#waiting = [];
      this.#first = 0;
    }
    return batch;
  }

  async #send(batch: readonly Waiting<Op, Reply>[]): Promise<void> {
    this.#inFlight++;
    try {
      const replies = await this.#options.send(batch.map(({ op }) => op));
      for (let i = 0; i < batch.length; i++) batch[i]!.resolve(replies[i]!);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.#inFlight--;
    this.#flush();
  }
}
