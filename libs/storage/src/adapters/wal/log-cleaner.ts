import type { JobEntry, JobTable } from '../../job-table/index.js';
import type { Batch, LogExtent } from './log/write-ahead-log.js';

/** What the cleaner needs of the log. */
export interface CleanableLog {
  append(records: string, purpose: 'cleaner'): Batch;
  /** As the disk allowed it, not as it was asked for. */
  readonly segmentBytes: number;
  extent(): LogExtent;
  removeOldest(segment: number): Promise<void>;
  prepareAhead(): void;
}

/** Ended segments may take so many times what lives; the more, the rarer each living job is copied. */
const LIVE_MULTIPLE = 2.25;
/** Copied between two turns of the event loop: well below a millisecond. */
const STEP_JOBS = 256;
const STEP_CHARS = 256 * 1024;
/** Steps on their way to the disk. Waiting for each would make the cleaner slower than a churn that it has to outrun. */
const STEPS_AHEAD = 8;
/** Jobs looked at in search of the next ones to copy. */
const STEP_SCAN = 2000;

/**
 * Keeps the log in proportion to what lives: rewrites the living jobs of the oldest segment at the head, a few at a time, and deletes it.
 *
 * Safe because a segment goes only when no job has its newest full record there, and the log makes the copies durable first. Oldest first,
 * so that a record which buries a job outlives every record of that job. It looks for them with a hand that goes round all jobs by id: ids
 * mostly come in order (UUIDv7), and copies are made in order, so that the next segment's jobs are those behind the last one's.
 */
export class LogCleaner {
  readonly #table: JobTable;
  readonly #log: CleanableLog;
  readonly #encode: (entry: JobEntry) => string;
  readonly #live = new Map<number, number>();
  /** The last job looked at; null before the first. */
  #hand: string | null = null;
  #liveBytes = 0;
  #running: Promise<void> | null = null;
  /** Asked for while it ran: what it was to look at may have changed. */
  #askedAgain = false;
  #stopped = false;

  constructor(table: JobTable, log: CleanableLog, encode: (entry: JobEntry) => string) {
    this.#table = table;
    this.#log = log;
    this.#encode = encode;
  }

  /** About how much the newest records of all jobs take, in bytes. */
  get liveBytes(): number {
    return this.#liveBytes;
  }

  /** The newest full record of a job, so many bytes, stands in this segment. */
  placed(entry: JobEntry, segment: number, recordBytes: number): void {
    entry.recordBytes = recordBytes;
    this.#liveBytes += recordBytes;
    this.#enter(entry, segment);
  }

  /** The job is gone. */
  left(entry: JobEntry): void {
    this.#liveBytes -= entry.recordBytes;
    entry.recordBytes = 0;
    this.#leave(entry);
  }

  /** It removes segments, or will soon. */
  get isBusy(): boolean {
    return this.#running !== null || (!this.#stopped && this.#surplus() > 0);
  }

  /**
   * Cleans while the log is out of proportion, in the background; to be asked whenever the log has grown or jobs are gone. What fails there
   * is the log's, and the log tells it.
   */
  clean(): void {
    this.#askedAgain = this.#running !== null;
    if (this.#running !== null || this.#stopped || !this.#isDue()) return;
    this.#running = this.#run()
      .catch(() => undefined)
      .finally(() => {
        this.#running = null;
        if (this.#askedAgain) this.clean();
        this.#log.prepareAhead();
      });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  /**
   * By how many bytes the ended segments are out of proportion. Beside them the folder holds the current one and a spare, and a second spare
   * as soon as there is no surplus; so it stays below 2.5 x what lives + 3 segments. On a full disk a segment that can be won counts: here
   * the quarter is for headers, frames and filling, which no cleaning wins.
   */
  #surplus(): number {
    const { state, bytes, oldestSegment, currentSegment, currentOffset } = this.#log.extent();
    if (oldestSegment === currentSegment) return 0;
    if (state === 'full') return bytes - 1.25 * this.#liveBytes - this.#log.segmentBytes;
    return bytes - currentOffset - LIVE_MULTIPLE * this.#liveBytes;
  }

  /**
   * Whether to begin now. A segment in which nothing lives goes at once. One in which something lives waits for half a segment of new
   * records, since finished jobs may be pruned meanwhile; not where the surplus alone is more than a segment.
   */
  #isDue(): boolean {
    const surplus = this.#surplus();
    if (surplus <= 0) return false;
    const { state, oldestSegment, currentOffset } = this.#log.extent();
    const { segmentBytes } = this.#log;
    return state === 'full' || !this.#livesIn(oldestSegment) || currentOffset > segmentBytes / 2 || surplus > segmentBytes;
  }

  /** Goes over each segment once: what is copied now is not copied again before the log has grown. */
  async #run(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    const { currentSegment: end } = this.#log.extent();
    while (!this.#stopped && this.#isDue()) {
      const { oldestSegment } = this.#log.extent();
      if (oldestSegment >= end) return;
      await this.#copyAll(oldestSegment);
      if (this.#stopped) return;
      await this.#log.removeOldest(oldestSegment);
      this.#live.delete(oldestSegment);
    }
  }

  #livesIn(segment: number): boolean {
    return (this.#live.get(segment) ?? 0) > 0;
  }

  /** Resolves when the segment's living jobs are copied, and all copies are durable. */
  async #copyAll(segment: number): Promise<void> {
    const underWay: Promise<void>[] = [];
    while (this.#livesIn(segment) && !this.#stopped) {
      const copy = this.#copySome(segment);
      copy?.catch(() => undefined); // heard where it is awaited; one that failed before it ends the run
      if (copy) underWay.push(copy);
      if (underWay.length >= STEPS_AHEAD) await underWay.shift();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(underWay);
  }

  /** Those of the next jobs that stand in the segment. */
  #copySome(segment: number): Promise<void> | null {
    const copied: { entry: JobEntry; bytes: number }[] = [];
    let records = '';
    let seen = 0;
    let last: string | null = null;
    this.#table.jobs.walk(this.#hand, (entry) => {
      if (entry.segment === segment) {
        const record = this.#encode(entry);
        records += record;
        copied.push({ entry, bytes: Buffer.byteLength(record) });
      }
      if (++seen < STEP_SCAN && copied.length < STEP_JOBS && records.length < STEP_CHARS) return true;
      last = entry.id;
      return false;
    });
    this.#hand = last;
    return copied.length === 0 ? null : this.#copy(copied, records);
  }

  /** A job whose copy is on its way counts as living, but in no segment; one that left meanwhile takes no bytes any more. */
  async #copy(copied: readonly { entry: JobEntry; bytes: number }[], records: string): Promise<void> {
    const batch = this.#log.append(records, 'cleaner');
    for (const { entry, bytes } of copied) {
      this.#liveBytes += bytes - entry.recordBytes;
      entry.recordBytes = bytes;
      this.#leave(entry);
    }
    await batch.durable();
    for (const { entry } of copied) if (entry.recordBytes > 0) this.#enter(entry, batch.segment);
  }

  #enter(entry: JobEntry, segment: number): void {
    entry.segment = segment;
    this.#live.set(segment, (this.#live.get(segment) ?? 0) + 1);
  }

  #leave(entry: JobEntry): void {
    const count = this.#live.get(entry.segment);
    if (count !== undefined) this.#live.set(entry.segment, count - 1);
    entry.segment = 0;
  }
}
