import type { JobEntry, JobTable } from '../../job-table/index.js';
import type { Batch } from './log/write-ahead-log.js';

/** What the cleaner needs of the log. */
export interface CleanableLog {
  append(records: string, purpose: 'cleaner'): Batch;
  stats(): { readonly bytes: number; readonly oldestSegment: number; readonly currentSegment: number };
  removeOldest(segment: number): Promise<void>;
}

/** Copied between two looks at the event loop. */
const STEP_JOBS = 64;
const STEP_CHARS = 256 * 1024;
/** Jobs looked at in search of the next ones to copy. */
const STEP_SCAN = 2000;

/**
 * Keeps the log in proportion to what lives: rewrites the living jobs of the oldest segment at the head, a few at a time, and deletes it.
 *
 * Safe because a segment goes only when no job has its newest full record there, and the log makes the copies durable first. Oldest first,
 * so that a record which buries a job outlives every record of that job. The table keeps its jobs in the order of their newest records;
 * only jobs whose enqueue was on its way while a copy was made stand a little off, which is why the counts decide and not the order.
 */
export class LogCleaner {
  readonly #table: JobTable;
  readonly #log: CleanableLog;
  readonly #segmentBytes: number;
  readonly #encode: (entry: JobEntry) => string;
  readonly #live = new Map<number, number>();
  #liveBytes = 0;
  #copying = 0;
  #cursor: IterableIterator<JobEntry> | null = null;
  #running: Promise<void> | null = null;
  #stopped = false;

  constructor(table: JobTable, log: CleanableLog, segmentBytes: number, encode: (entry: JobEntry) => string) {
    this.#table = table;
    this.#log = log;
    this.#segmentBytes = segmentBytes;
    this.#encode = encode;
  }

  /** About how much the newest records of all jobs take, in bytes. */
  get liveBytes(): number {
    return this.#liveBytes;
  }

  /** The newest full record of a job stands in this segment. */
  placed(entry: JobEntry, segment: number): void {
    entry.tag = segment;
    this.#live.set(segment, (this.#live.get(segment) ?? 0) + 1);
    this.#liveBytes += weight(entry);
  }

  forgotten(entry: JobEntry): void {
    this.#liveBytes -= weight(entry);
    this.#leave(entry);
  }

  /** Cleans as long as the log is out of proportion, in the background; rejects nothing, the log itself reports what fails. */
  clean(): void {
    if (this.#running !== null || this.#stopped || !this.#isNeeded()) return;
    this.#running = this.#run()
      .catch(() => undefined)
      .finally(() => (this.#running = null));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  /** Half of what the disk may hold beside the living: a churn goes on while the cleaner works. */
  #isNeeded(): boolean {
    const { bytes, oldestSegment, currentSegment } = this.#log.stats();
    return oldestSegment < currentSegment && bytes > 2 * this.#liveBytes + 2 * this.#segmentBytes;
  }

  async #run(): Promise<void> {
    while (!this.#stopped && this.#isNeeded()) {
      const { oldestSegment } = this.#log.stats();
      this.#cursor = null;
      while (this.#livesIn(oldestSegment) && !this.#stopped) await this.#copySome(oldestSegment);
      if (!this.#stopped && this.#copying === 0) await this.#log.removeOldest(oldestSegment);
      this.#live.delete(oldestSegment);
    }
  }

  #livesIn(segment: number): boolean {
    return (this.#live.get(segment) ?? 0) > 0;
  }

  async #copySome(segment: number): Promise<void> {
    const copied: JobEntry[] = [];
    let records = '';
    for (let seen = 0; seen < STEP_SCAN && copied.length < STEP_JOBS && records.length < STEP_CHARS; seen++) {
      this.#cursor ??= this.#table.jobs.oldestFirst();
      const next = this.#cursor.next();
      if (next.done) {
        this.#cursor = null;
        break;
      }
      if (next.value.tag !== segment) continue;
      records += this.#encode(next.value);
      copied.push(next.value);
    }
    if (copied.length === 0) return new Promise((resolve) => setImmediate(resolve));
    const batch = this.#log.append(records, 'cleaner');
    for (const entry of copied) {
      this.#leave(entry);
      this.#table.jobs.renew(entry);
    }
    this.#copying += copied.length;
    await batch.durable();
    this.#copying -= copied.length;
    for (const entry of copied) if (this.#table.jobs.get(entry.id) === entry) this.#arrive(entry, batch.segment);
  }

  #leave(entry: JobEntry): void {
    const count = this.#live.get(entry.tag);
    if (count !== undefined) this.#live.set(entry.tag, count - 1);
    entry.tag = 0;
  }

  #arrive(entry: JobEntry, segment: number): void {
    entry.tag = segment;
    this.#live.set(segment, (this.#live.get(segment) ?? 0) + 1);
  }
}

/** A full record without its payload. */
const RECORD_CHARS = 160;

/** The length of a job's full record, near enough, from what never changes about it, so that it is taken off as it was put on. */
function weight(entry: JobEntry): number {
  return RECORD_CHARS + entry.payload.length;
}
