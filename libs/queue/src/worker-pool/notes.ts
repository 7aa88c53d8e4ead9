import { InvalidArgumentError, LIMITS, type ExtendRequest, type JobProgress } from '@orchd/storage';

/**
 * What a handler said about its job since it was last told to the storage. A handler may say it a million times (case H15): only the
 * latest progress and the last lines are kept. Texts are mended here, since one bad note would make the storage refuse a whole extend.
 */
export class Notes {
  #progress: JobProgress | undefined;
  #lines: string[] = [];

  get empty(): boolean {
    return this.#progress === undefined && this.#lines.length === 0;
  }

  progress(percent: number, note?: string): void {
    if (typeof percent !== 'number' || Number.isNaN(percent)) throw new InvalidArgumentError('percent', 'must be a number 0..100');
    this.#progress = { percent: Math.min(100, Math.max(0, percent)), note: note == null ? null : mended(note) };
  }

  log(line: string): void {
    this.#lines.push(mended(line));
    if (this.#lines.length > LIMITS.logLines) this.#lines.shift();
  }

  /** Hands the notes over, to be sent with the lease; what is said from now on is new. */
  take(): Omit<ExtendRequest, 'lease'> {
    const taken = { progress: this.#progress, log: this.#lines.length > 0 ? this.#lines : undefined };
    this.#progress = undefined;
    this.#lines = [];
    return taken;
  }
}

function mended(text: unknown): string {
  return String(text).slice(0, LIMITS.logLine).toWellFormed();
}
