import type { ListQuery } from '../contract/index.js';
import { IdIndex } from './id-index.js';
import { IncomingJobs } from './incoming-jobs.js';
import type { JobEntry } from './job-entry.js';
import { Shelves } from './shelves.js';

/** All jobs of a table and the ways to find them: by id, by id order, by state and turn, by dedupe key, by age of their record. */
export class JobStore {
  readonly shelves = new Shelves();
  readonly incoming = new IncomingJobs((id) => this.#jobs.get(id));
  readonly #jobs = new Map<string, JobEntry>();
  readonly #ids = new IdIndex();
  readonly #onForget: ((entry: JobEntry) => void) | undefined;

  /** @param onForget is told of every job that leaves */
  constructor(onForget?: (entry: JobEntry) => void) {
    this.#onForget = onForget;
  }

  get(id: string): JobEntry | undefined {
    return this.#jobs.get(id);
  }

  insert(entry: JobEntry): void {
    this.#jobs.set(entry.id, entry);
    this.#ids.add(entry);
    this.shelves.add(entry);
  }

  /** Callers have taken the job off a finished shelf, or are replaying. */
  remove(entry: JobEntry): void {
    this.#jobs.delete(entry.id);
    this.#ids.remove(entry);
    this.shelves.forget(entry);
    this.incoming.forgetKey(entry);
    this.#onForget?.(entry);
  }

  /** All jobs, the one whose record was put or renewed longest ago first. The iterator stays good while jobs come and go. */
  oldestFirst(): IterableIterator<JobEntry> {
    return this.#jobs.values();
  }

  /** A new full record of the job was made: it goes to the end of `oldestFirst`. */
  renew(entry: JobEntry): void {
    this.#jobs.delete(entry.id);
    this.#jobs.set(entry.id, entry);
  }

  /** Visits jobs behind `cursor`, by id, until `limit` match or `budget` were looked at; `rest` is where to go on, null at the end. */
  scan(query: ListQuery, cursor: string | null, limit: number, budget: number): { matches: JobEntry[]; rest: string | null } {
    const matches: JobEntry[] = [];
    let rest: string | null = null;
    let seen = 0;
    this.#ids.walk(cursor, (entry) => {
      if (matchesQuery(entry, query)) matches.push(entry);
      if (matches.length < limit && ++seen < budget) return true;
      rest = entry.id;
      return false;
    });
    return { matches, rest };
  }
}

function matchesQuery(entry: JobEntry, query: ListQuery): boolean {
  return (
    (query.state === undefined || entry.state === query.state) &&
    (query.queue === undefined || entry.queue === query.queue) &&
    (query.type === undefined || entry.type === query.type)
  );
}
