import { DeliveryEnded, type DeliveryEndReason, type JobContext } from '../../../handler/handler.js';
import type { InsideLimits, InsideNotes, Line } from './protocol.js';

/** Notes go out at once up to so many in this time; a handler that floods (case H15) has them put together. */
const NOTES_MS = 250;
const NOTES_AT_ONCE = 10;

/** What a handler in a thread or process sees of its delivery. Mute once the handler has come back, whatever of it still runs. */
export class InsideContext implements JobContext {
  /** Costly, so it is made only for a handler that looks at its signal. */
  #controller: AbortController | null = null;
  #ended: DeliveryEnded | null = null;
  #progress: InsideNotes['progress'];
  #lines: string[] = [];
  #over = false;
  #windowEndMs = 0;
  #sent = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    readonly epoch: number,
    readonly attempt: number,
    private readonly line: Line,
    private readonly limits: InsideLimits,
  ) {}

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#ended) this.#controller.abort(this.#ended);
    }
    return this.#controller.signal;
  }

  heartbeat(): void {
    if (this.#over) return;
    const reason = this.line.beat();
    if (reason !== null) this.abort(reason);
  }

  progress(percent: number, note?: string): void {
    this.heartbeat();
    if (typeof percent !== 'number' || Number.isNaN(percent)) throw new TypeError('percent: must be a number 0..100');
    this.#progress = { percent: Math.min(100, Math.max(0, percent)), note: note == null ? undefined : this.#cut(note) };
    this.#noted();
  }

  log(line: string): void {
    this.heartbeat();
    this.#lines.push(this.#cut(line));
    if (this.#lines.length > this.limits.logLines) this.#lines.shift();
    this.#noted();
  }

  /** The first reason stays. */
  abort(reason: DeliveryEndReason): void {
    if (this.#over || this.#ended) return;
    this.#ended = new DeliveryEnded(reason);
    this.#controller?.abort(this.#ended);
  }

  /** The handler has come back: hands over what it noted and was not told yet. */
  finish(): InsideNotes | null {
    this.#over = true;
    if (this.#timer) clearTimeout(this.#timer);
    return this.#take();
  }

  /** The first notes in a while are told at once, so that those before a crash are known. */
  #noted(): void {
    if (this.#over || this.#timer) return;
    const nowMs = performance.now();
    if (nowMs >= this.#windowEndMs) {
      this.#windowEndMs = nowMs + NOTES_MS;
      this.#sent = 0;
    }
    if (this.#sent++ < NOTES_AT_ONCE) return this.#tell();
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#tell();
    }, this.#windowEndMs - nowMs);
    this.#timer.unref();
  }

  #tell(): void {
    const notes = this.#take();
    if (notes) this.line.send({ kind: 'notes', ...notes });
  }

  #take(): InsideNotes | null {
    if (this.#progress === undefined && this.#lines.length === 0) return null;
    const notes = { progress: this.#progress, log: this.#lines.length > 0 ? this.#lines : undefined };
    this.#progress = undefined;
    this.#lines = [];
    return notes;
  }

  #cut(text: unknown): string {
    return String(text).slice(0, this.limits.logLine);
  }
}
