import { Fifo } from './fifo.js';
import type { JobEntry } from './job-entry.js';

const HIGHEST = 9;

/**
 * The ready jobs of one queue: a lane per priority, first in, first out. A job that is cancelled while it waits stays in its lane and is
 * passed over; `stale` counts those, and more stale than living ones makes the lanes clean up, so that memory follows the living.
 */
export class ReadyLanes {
  readonly #lanes: (Fifo<JobEntry> | undefined)[] = new Array<Fifo<JobEntry> | undefined>(HIGHEST + 1);
  #living = 0;
  #stale = 0;

  get length(): number {
    return this.#living;
  }

  push(entry: JobEntry): void {
    (this.#lanes[entry.priority] ??= new Fifo()).push(entry);
    this.#living++;
  }

  shift(): JobEntry | undefined {
    if (this.#living === 0) return undefined;
    for (let priority = HIGHEST; priority >= 0; priority--) {
      const lane = this.#lanes[priority];
      if (lane === undefined) continue;
      for (let entry = lane.shift(); entry !== undefined; entry = lane.shift()) {
        if (entry.state === 'ready') {
          this.#living--;
          return entry;
        }
        this.#stale--;
      }
    }
    return undefined;
  }

  /** A waiting job has left the state `ready` otherwise than by `shift`. */
  leave(): void {
    this.#living--;
    this.#stale++;
    if (this.#stale > 64 && this.#stale > this.#living) this.#cleanUp();
  }

  #cleanUp(): void {
    for (const lane of this.#lanes) lane?.retain((entry) => entry.state === 'ready');
    this.#stale = 0;
  }
}
