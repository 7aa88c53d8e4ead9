import { backoffDelayMs, OrchdError, type Clock } from '../../../contract/index.js';
import type { Script } from '../script.js';
import type { Dialler } from './dial.js';
import { Session } from './session.js';

export interface LinkOptions {
  readonly dialler: Dialler;
  readonly key: string;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Makes a new session ready for others; what it throws ends the session, and the next one is tried. */
  readonly prepare: (session: Session) => Promise<void>;
  readonly onReady?: () => void;
  /** Told once for each time that the session is lost or cannot be had. */
  readonly onLost?: (error: OrchdError) => void;
}

/** Of the time between two tries, jitter included at most 1.5 s. */
const RETRY = { baseMs: 25, capMs: 1000 };

/** Keeps one session with Redis, and makes the next one when it ends, until it is closed. */
export class Link {
  readonly #options: LinkOptions;
  #session: Session | null = null;
  #failure: OrchdError | null = null;
  #failures = 0;
  #closed = false;
  #wake: () => void = () => undefined;
  #waiters: (() => void)[] = [];
  #loop: Promise<void> = Promise.resolve();

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get isReady(): boolean {
    return this.#session?.isUsable ?? false;
  }

  /** Why there is no session. */
  get failure(): OrchdError | null {
    return this.isReady ? null : this.#failure;
  }

  start(): void {
    this.#closed = false;
    this.#loop = this.#keep();
  }

  /** Resolves with the session; waits for one if need be, null when the link is closed meanwhile. */
  async session(): Promise<Session | null> {
    while (!this.isReady && !this.#closed) await new Promise<void>((resolve) => this.#waiters.push(resolve));
    return this.#closed ? null : this.#session;
  }

  /** Rejects `storage_unavailable` at once where there is no session. */
  run(script: Script, args: readonly string[]): Promise<unknown> {
    if (this.isReady) return this.#session!.run(script, args);
    return Promise.reject(new OrchdError('storage_unavailable', this.#reason(), { cause: this.#failure }));
  }

  call(command: string, ...args: readonly string[]): Promise<unknown> {
    if (this.isReady) return this.#session!.call(command, ...args);
    return Promise.reject(new OrchdError('storage_unavailable', this.#reason(), { cause: this.#failure }));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#session?.drop();
    this.#wake();
    await this.#loop;
    this.#notify();
  }

  async #keep(): Promise<void> {
    while (!this.#closed) {
      const session = await this.#begin();
      if (session !== null) {
        this.#session = session;
        this.#failures = 0;
        this.#notify();
        this.#options.onReady?.();
        await session.ended;
        this.#session = null;
        if (!this.#closed) this.#lost(new OrchdError('storage_unavailable', 'the connection to Redis was lost'));
      }
      if (!this.#closed) await this.#pause();
    }
  }

  async #begin(): Promise<Session | null> {
    let session: Session | null = null;
    try {
      const { redis, facts } = await this.#options.dialler.dial();
      session = new Session(redis, facts, this.#options.key);
      if (!this.#closed) await this.#options.prepare(session);
      if (!this.#closed && session.isUsable) return session;
    } catch (error) {
      this.#lost(error instanceof OrchdError ? error : new OrchdError('storage_unavailable', String(error), { cause: error }));
    }
    session?.drop();
    await session?.ended;
    return null;
  }

  #lost(error: OrchdError): void {
    const first = this.#failures++ === 0;
    this.#failure = error;
    if (first) this.#options.onLost?.(error);
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.setTimer(backoffDelayMs(RETRY, this.#failures, this.#options.random), resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }

  #notify(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  #reason(): string {
    return this.#failure?.message ?? 'there is no connection to Redis yet';
  }
}
