import { setTimeout } from 'node:timers/promises';
import { call } from './http-call.js';

const EVERY_MS = 100;

/** Asks a probe of a service ten times a second, as a supervisor would, only more often. */
export class Probe {
  /** Of every answer, in order. */
  readonly statuses: number[] = [];
  #slowestMs = 0;
  #stopped = false;
  readonly #ended: Promise<void>;

  constructor(
    private readonly port: number,
    private readonly path: '/readyz' | '/healthz',
  ) {
    this.#ended = this.#run();
  }

  /** The longest time that an answer took. */
  get slowestMs(): number {
    return this.#slowestMs;
  }

  /** Resolves when the last answer is here. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const asked = performance.now();
      try {
        const { status } = await call(this.port, 'GET', this.path);
        this.statuses.push(status);
        this.#slowestMs = Math.max(this.#slowestMs, performance.now() - asked);
      } catch {
        return; // The process is gone.
      }
      await setTimeout(EVERY_MS);
    }
  }
}
