import type { Clock } from '@orchd/storage';
import { inWords, type Log } from './log.js';

export interface PeriodicSettings {
  readonly clock: Clock;
  readonly log: Log;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/**
 * Something done again and again: `start`, then `tick` after each interval, until `stop`. Never two ticks at once: the next interval
 * begins when a tick has ended. A tick that throws is logged and the next one comes. Start and stop may be called twice, stop also before
 * start, and start again after stop.
 */
export abstract class PeriodicService {
  protected readonly clock: Clock;
  protected readonly log: Log;
  readonly #random: () => number;
  #running: AbortController | null = null;
  #cancelTimer: (() => void) | null = null;
  #tick: Promise<void> | null = null;

  constructor(settings: PeriodicSettings) {
    this.clock = settings.clock;
    this.log = settings.log;
    this.#random = settings.random;
  }

  /** For log lines. */
  protected abstract readonly name: string;
  /** Asked before each interval, so it may change. */
  protected abstract intervalMs(): number;
  /** Up to this share of the interval is added at random, so that processes started together do not tick together. */
  protected readonly jitter: number = 0;
  /**
   * @param signal fires at stop; a long tick ends early then
   * @param lateMs by how much the timer overslept: the event loop was blocked or the process stopped
   */
  protected abstract tick(signal: AbortSignal, lateMs: number): void | Promise<void>;

  start(): void {
    if (this.#running) return;
    this.#running = new AbortController();
    this.#wait(this.#running.signal);
  }

  /** Resolves when no tick runs any more. */
  async stop(): Promise<void> {
    this.#running?.abort();
    this.#running = null;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    await this.#tick;
  }

  #wait(signal: AbortSignal): void {
    const interval = this.intervalMs() * (1 + this.jitter * this.#random());
    const due = this.clock.monoMs() + interval;
    this.#cancelTimer = this.clock.setTimer(interval, () => this.#run(signal, Math.max(0, this.clock.monoMs() - due)));
  }

  #run(signal: AbortSignal, lateMs: number): void {
    this.#cancelTimer = null;
    // Stopped and started again while the last tick still runs.
    if (this.#tick) return this.#wait(signal);
    const again = (): void => {
      this.#tick = null;
      if (!signal.aborted) this.#wait(signal);
    };
    try {
      const work = this.tick(signal, lateMs);
      if (work === undefined) again();
      else this.#tick = work.catch((error: unknown) => this.#complain(error)).then(again);
    } catch (error) {
      this.#complain(error);
      again();
    }
  }

  #complain(error: unknown): void {
    this.log.warn(`${this.name}: ${inWords(error)}`);
  }
}
