import { Fifo } from './fifo.js';
import type { JobEntry } from './job-entry.js';

/** A job may die, be redriven and die again: its epoch tells one death from the next, because a claim lies between. */
interface Death {
  readonly entry: JobEntry;
  readonly epoch: number;
}

/**
 * Dead jobs in the order of their deaths. The death of a job that was redriven stays in the row and is passed over; `stale` counts those,
 * and more stale than standing ones makes the row clean up.
 */
export class DeadRow {
  readonly #deaths = new Fifo<Death>();
  #stale = 0;

  push(entry: JobEntry): void {
    this.#deaths.push({ entry, epoch: entry.epoch });
  }

  /** A job of the row has left the state `dead` otherwise than by `take`. */
  leave(): void {
    this.#stale++;
    if (this.#stale <= 64 || this.#stale * 2 <= this.#deaths.length) return;
    this.#deaths.retain(isStanding);
    this.#stale = 0;
  }

  /** Takes the job that has been dead longest, if `giveUp` says so. */
  take(giveUp: (entry: JobEntry) => boolean): JobEntry | undefined {
    for (let death = this.#deaths.peek(); death !== undefined; death = this.#deaths.peek()) {
      const { entry } = death;
      if (isStanding(death) && !giveUp(entry)) return undefined;
      this.#deaths.shift();
      if (isStanding(death)) return entry;
      this.#stale--;
    }
    return undefined;
  }
}

function isStanding({ entry, epoch }: Death): boolean {
  return entry.state === 'dead' && entry.epoch === epoch;
}
