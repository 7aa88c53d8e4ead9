import type { RegisteredHandler } from '../../handler/handler.registry.js';
import type { DeliveryEndReason } from '../../handler/handler.js';
import type { FromInside, ToInside } from './inside/protocol.js';

/** `loading` its module, `idle`, `busy` with a job, `closing`: asked to end by itself, `dying`: about to be killed, `gone`. */
export type IsolateState = 'loading' | 'idle' | 'busy' | 'closing' | 'dying' | 'gone';

export interface IsolateListener {
  message(isolate: Isolate, message: FromInside): void;
  /** Called once, also when the isolate was killed. */
  gone(isolate: Isolate, how: string): void;
}

/** A thread or a child process that runs one handler's jobs, one at a time. It is never given another job once it was told to end. */
export abstract class Isolate {
  state: IsolateState = 'loading';
  /** Jobs begun. */
  jobs = 0;

  constructor(
    readonly handler: RegisteredHandler,
    private readonly listener: IsolateListener,
  ) {}

  /** Ms since the last beat of the running handler; -Infinity until it is entered. */
  abstract silentMs(): number;

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

  /** Before each job: nobody has beaten yet. */
  protected abstract entering(): void;
  protected abstract end(): void;
  protected abstract post(message: ToInside): void;

  protected received(message: FromInside): void {
    if (this.state !== 'gone') this.listener.message(this, message);
  }

  protected ended(how: string): void {
    if (this.state === 'gone') return;
    this.state = 'gone';
    this.listener.gone(this, how);
  }
}
