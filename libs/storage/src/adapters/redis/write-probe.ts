import { hasCode, OrchdError, type Clock } from '../../contract/index.js';
import type { Link } from './link/link.js';
import { Periodic } from './periodic.js';
import type { Beginning, ScriptCalls } from './script-calls.js';

/** A proof of writing is made so often, and is believed so long. */
const INTERVAL_MS = 1000;
const BELIEVED_MS = 3000;

/** Why an enqueue would not be taken now; `full` where only memory is missing. */
export interface Unwritable {
  readonly full: boolean;
  readonly reason: string;
}

/** Proves again and again, by a write that is refused where an enqueue is, that Redis takes jobs; so that health() is a look, not a call. */
export class WriteProbe {
  readonly #calls: ScriptCalls;
  readonly #link: Link;
  readonly #clock: Clock;
  readonly #found: (beginning: Beginning) => void;
  readonly #periodic: Periodic;
  #provenAtMs = -Infinity;
  #failure: OrchdError | null = null;

  /** @param found is told how each probe finds the namespace */
  constructor(calls: ScriptCalls, link: Link, clock: Clock, found: (beginning: Beginning) => void) {
    this.#calls = calls;
    this.#link = link;
    this.#clock = clock;
    this.#found = found;
    this.#periodic = new Periodic(
      clock,
      () => INTERVAL_MS,
      () => this.look(),
    );
  }

  start(): void {
    this.#periodic.start();
  }

  stop(): Promise<void> {
    return this.#periodic.stop();
  }

  async look(): Promise<void> {
    try {
      const beginning = await this.#calls.probe();
      this.#provenAtMs = this.#clock.monoMs();
      this.#failure = null;
      this.#found(beginning);
    } catch (error) {
      this.#failure = error instanceof OrchdError ? error : new OrchdError('storage_unavailable', String(error), { cause: error });
    }
  }

  /** Null while an enqueue would be taken. */
  verdict(): Unwritable | null {
    if (!this.#link.isReady) return { full: false, reason: this.#link.failure?.message ?? 'there is no connection to Redis' };
    if (this.#failure !== null) return { full: hasCode(this.#failure, 'storage_full'), reason: this.#failure.message };
    const silentMs = this.#clock.monoMs() - this.#provenAtMs;
    return silentMs > BELIEVED_MS ? { full: false, reason: `Redis has not taken a write for ${Math.round(silentMs)} ms` } : null;
  }
}
