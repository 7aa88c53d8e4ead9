import type { RegisteredHandler } from '../../handler/handler.registry.js';
import type { DeliveryEndReason } from '../../handler/handler.js';
import { coreWaitMs } from './core-wait.js';
import { isFromInside } from './heard.js';
import type { FromInside, InsideSettings, ToInside } from './inside/protocol.js';

/** `loading` its module, `idle`, `busy` with a job, `closing`: asked to end by itself, `dying`: about to be killed, `gone`. */
export type IsolateState = 'loading' | 'idle' | 'busy' | 'closing' | 'dying' | 'gone';

export interface IsolateListener {
  message(isolate: Isolate, message: FromInside): void;
  /** Called once, also when the isolate was killed. */
  gone(isolate: Isolate, how: string): void;
}

/** Of a beat this young there is nothing to explain. */
const FRESH_MS = 2;

/** A thread or a child process that runs one handler's jobs, one at a time. It is never given another job once it was told to end. */
export abstract class Isolate {
  state: IsolateState = 'loading';
  /** Jobs begun. */
  jobs = 0;

  /** The first look since the last beat, and how long its thread had waited for a core by then. */
  #mark = { beatAtMs: Infinity, waitedMs: 0 };

  constructor(
    readonly handler: RegisteredHandler,
    private readonly settings: InsideSettings,
    private readonly listener: IsolateListener,
  ) {}

  /**
   * Ms since the last beat of the running handler; -Infinity until it is entered. Whoever gets no core cannot beat: on a machine that is
   * overcrowded the wait for one is left out, but never more of it than a time-out (R8 says the same of a late monitor).
   */
  silentMs(): number {
    const ageMs = this.ageMs();
    if (ageMs < FRESH_MS) return ageMs;
    const beatAtMs = performance.now() - ageMs;
    const waitedMs = coreWaitMs(this.task());
    if (Math.abs(beatAtMs - this.#mark.beatAtMs) > 1) this.#mark = { beatAtMs, waitedMs };
    return ageMs - Math.min(waitedMs - this.#mark.waitedMs, this.settings.heartbeatTimeoutMs);
  }

  run(message: ToInside & { kind: 'run' }): void {
    this.state = 'busy';
    this.jobs++;
    this.entering();
    this.post(message);
  }

  /** The handler's signal fires. */
  abort(reason: DeliveryEndReason): void {
    this.post({ kind: 'abort', reason });
  }

  /** The module's `close` is called, then it ends by itself. */
  close(): void {
    this.state = 'closing';
    this.post({ kind: 'close' });
  }

  /** Ends it, whatever it does. `gone` is told when it has really ended. */
  kill(): void {
    if (this.state === 'gone') return;
    this.state = 'dying';
    this.end();
  }

  protected abstract ageMs(): number;
  /** The thread in /proc, '' where there is none. */
  protected abstract task(): string;
  /** Before each job: nobody has beaten yet. */
  protected abstract entering(): void;
  protected abstract end(): void;
  protected abstract post(message: ToInside): void;

  /** A beat came as a message. */
  protected beaten(): void {
    // Threads beat in shared memory: from one of them the word means nothing.
  }

  /** What is not ours is left unheard. */
  protected heard(message: unknown): void {
    if (this.state === 'gone' || !isFromInside(message)) return;
    if (message.kind === 'beat') this.beaten();
    else this.listener.message(this, message);
  }

  protected ended(how: string): void {
    if (this.state === 'gone') return;
    this.state = 'gone';
    this.listener.gone(this, how);
  }
}
