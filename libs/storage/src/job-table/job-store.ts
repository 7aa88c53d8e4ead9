import type { ListQuery } from '../contract/index.js';
import { IdIndex } from './id-index.js';
import { IncomingJobs } from './incoming-jobs.js';
import type { JobEntry } from './job-entry.js';
import { Shelves } from './shelves.js';

/** All jobs of a table and the ways to find them: by id, by state and turn, by dedupe key. */
export class JobStore {
  readonly shelves = new Shelves();
  readonly incoming = new IncomingJobs((id) => this.#ids.get(id));
  readonly #ids = new IdIndex();
  readonly #onForget: ((entry: JobEntry) => void) | undefined;

  /** @param onForget is told of every job that leaves */
  constructor(onForget?: (entry: JobEntry) => void) {
    this.#onForget = onForget;
  }

  get(id: string): JobEntry | undefined {
    return this.#ids.get(id);
  }

  insert(entry: JobEntry): void {
    this.#ids.add(entry);
    this.shelves.add(entry);
  }

  /** Callers have taken the job off a finished shelf, or are replaying. */
  remove(entry: JobEntry): void {
    this.#ids.remove(entry);
    this.shelves.forget(entry);
    this.incoming.forgetKey(entry);
    this.#onForget?.(entry);
  }

  /** All jobs, by id. */
  all(): JobEntry[] {
    const jobs: JobEntry[] = [];
    this.walk(null, (entry) => jobs.push(entry) > 0);
    return jobs;
  }

  /** Visits jobs whose id is greater than `after` (all, for null), by id, until `visit` returns false. It must not insert or remove any. */
  walk(after: string | null, visit: (entry: JobEntry) => boolean): void {
    this.#ids.walk(after, visit);
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
