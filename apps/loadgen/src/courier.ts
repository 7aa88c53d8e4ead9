import { isNativeError } from 'node:util/types';
import { errorCode, type Answer } from './answer.js';
import { Connection, type Request } from './connection.js';
import type { Target } from './options.js';
import { repeatDelayMs } from './repeat-delay.js';
import { pause, type World } from './world.js';

/** What one attempt that brought no usable answer may have done at the server. */
export type Fate =
  /** Not done, and never will be. */
  | 'refused'
  /** Perhaps done: no answer came, or the server said that it does not know. */
  | 'unknown';

/** Told of every attempt: before it leaves, and when it failed in a way that is repeated. */
export interface AttemptObserver {
  sending(target: number): void;
  failed(target: number, fate: Fate, reason: string): void;
}

export interface Delivery {
  readonly answer: Answer;
  /** Index of the target that answered. */
  readonly target: number;
}

/** 503 codes that promise that the request was not done; any other 503 leaves it open. */
const NOT_DONE = new Set(['storage_unavailable', 'storage_full', 'starting', 'draining']);

/** Errors of a connection that never came to be: not a byte of the request has left. */
const NOT_SENT = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/** A target that failed is passed over for this long while another one answers. */
const SHUN_MS = 1_000;

/**
 * Repeats one request, unchanged, until a target answers it for good. Safe for submits because they carry their key: the
 * targets share one queue, so the key finds its job at whichever of them the repetition arrives.
 *
 * One courier makes one request at a time, over one connection per target it had to turn to.
 */
export class Courier {
  private readonly connections: (Connection | undefined)[];
  private readonly shunnedUntil: number[];

  constructor(
    private readonly targets: readonly Target[],
    private readonly world: World,
    private readonly signal: AbortSignal,
  ) {
    this.connections = targets.map(() => undefined);
    this.shunnedUntil = targets.map(() => 0);
    signal.addEventListener('abort', () => this.close(), { once: true });
  }

  /**
   * Starts at target `home`, goes to the others when it fails. Resolves with the first answer that no repetition would
   * better, or with nothing once the signal aborts.
   */
  async deliver(request: Request, home: number, observer: AttemptObserver): Promise<Delivery | undefined> {
    for (let failures = 1; !this.signal.aborted; failures++) {
      const target = this.choose(home);
      observer.sending(target);
      const answer = await this.attempt(request, target, observer);
      if (answer && !isRepeated(answer)) {
        this.shunnedUntil[target] = 0;
        return { answer, target };
      }
      this.shunnedUntil[target] = this.world.now() + SHUN_MS;
      if (this.shunnedUntil.every((until) => until > this.world.now())) {
        await this.rest(failures, answer?.retryAfter);
      }
    }
    return undefined;
  }

  close(): void {
    for (const connection of this.connections) connection?.destroy();
  }

  private async attempt(request: Request, target: number, observer: AttemptObserver): Promise<Answer | undefined> {
    try {
      const answer = await this.connection(target).send(request);
      if (isRepeated(answer)) {
        const code = errorCode(answer.body);
        const refused = answer.status === 429 || NOT_DONE.has(code);
        observer.failed(target, refused ? 'refused' : 'unknown', `${answer.status} ${code}`.trimEnd());
      }
      return answer;
    } catch (error) {
      const reason = failureReason(error);
      observer.failed(target, NOT_SENT.has(reason) ? 'refused' : 'unknown', reason);
      return undefined;
    }
  }

  private rest(failures: number, retryAfter: string | undefined): Promise<void> {
    const delay = repeatDelayMs(failures, retryAfter, this.world.random(), this.world.wallClock());
    return pause(delay, this.signal);
  }

  /** The first target from `home` on that is not shunned; when all are, the one whose failure is the oldest. */
  private choose(home: number): number {
    const now = this.world.now();
    let best = home;
    let bestUntil = Infinity;
    for (let step = 0; step < this.targets.length; step++) {
      const target = (home + step) % this.targets.length;
      const until = this.shunnedUntil[target] ?? 0;
      if (until <= now) return target;
      if (until < bestUntil) [best, bestUntil] = [target, until];
    }
    return best;
  }

  private connection(index: number): Connection {
    const target = this.targets[index];
    if (!target) throw new RangeError(`no target ${index}`);
    return (this.connections[index] ??= new Connection(target));
  }
}

/** Not now, or not through this proxy: 429, 502, 503, 504. Any other answer would be the same again. */
const REPEATED = new Set([429, 502, 503, 504]);

function isRepeated(answer: Answer): boolean {
  return REPEATED.has(answer.status);
}

function failureReason(error: unknown): string {
  if (!isNativeError(error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code ?? error.message;
}
