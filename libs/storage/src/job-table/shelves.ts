import type { JobState } from '../contract/index.js';
import { DeadRow } from './dead-row.js';
import { DueHeap } from './due-heap.js';
import { Fifo } from './fifo.js';
import type { DueItem, JobEntry } from './job-entry.js';
import { ReadyLanes } from './ready-lanes.js';
import { standingOrder } from './standing-order.js';
import type { Now } from './table-event.js';

/**
 * Where the jobs of each state stand and in which order they leave it: ready by queue, priority and turn; delayed by due time; finished by
 * age. Invariant: every job of the table is counted under its state, exactly once, and stands on that state's shelf. During a replay only
 * counts and turns are kept; `endReplay` puts each job in its place.
 */
export class Shelves {
  readonly counts: Record<JobState, number> = { delayed: 0, ready: 0, active: 0, done: 0, dead: 0, cancelled: 0 };
  readonly #ready = new Map<string, ReadyLanes>();
  /** By the storage's monotonic clock, and by the wall clock: only `runAt` is an instant (R9). */
  readonly #durations = new DueHeap();
  readonly #instants = new DueHeap();
  readonly #finished = new Fifo<JobEntry>();
  readonly #dead = new DeadRow();
  #readySeq = 0;
  #dueSeq = 0;
  #replaying = false;

  /** The last turn that a job got among the ready. */
  get latestTurn(): number {
    return this.#readySeq;
  }

  beginReplay(): void {
    this.#replaying = true;
  }

  /** Every job takes its place, in its own order; returns those that are active, by turn. */
  endReplay(jobs: Iterable<JobEntry>, restartDelay: (entry: JobEntry) => void): JobEntry[] {
    this.#replaying = false;
    const { ready, delayed, finished, active } = standingOrder(jobs);
    for (const entry of delayed) restartDelay(entry);
    for (const row of [ready, delayed, finished]) for (const entry of row) this.shelve(entry);
    return active;
  }

  /** A job enters the table; one that had a turn already (a copy in a log) keeps it. */
  add(entry: JobEntry): void {
    this.counts[entry.state]++;
    this.#place(entry, entry.readySeq);
    if (!this.#replaying) this.shelve(entry);
  }

  /** A job leaves the table; callers have taken finished ones off their shelf. */
  forget(entry: JobEntry): void {
    this.counts[entry.state]--;
  }

  /** The turn of a job that becomes ready now. */
  takeTurn(): number {
    return ++this.#readySeq;
  }

  /** A turn was given out, perhaps to a job that is gone. */
  sawTurn(turn: number): void {
    this.#readySeq = Math.max(this.#readySeq, turn);
  }

  /** A job gets another state, at the end of that state's shelf (R10). `due` belongs to `delayed`; 0 stands for the next turn. */
  move(entry: JobEntry, to: JobState, due: DueItem | null = null, turn = 0): void {
    const from = entry.state;
    const left = entry.due;
    this.counts[from]--;
    this.counts[to]++;
    entry.state = to;
    entry.due = due;
    this.#place(entry, turn);
    if (this.#replaying) return;
    if (from === 'ready') this.#leaveReady(entry);
    else if (from === 'dead') this.#dead.leave();
    else if (left !== null) this.#heapOf(left).remove(left);
    this.shelve(entry);
  }

  /** Puts a job on the shelf of its state, behind those that stand there. */
  shelve(entry: JobEntry): void {
    const { state, due } = entry;
    if (state === 'ready') this.#lanesOf(entry.queue).push(entry);
    else if (state === 'delayed') this.#heapOf(due!).push(due!);
    else if (state === 'dead') this.#dead.push(entry);
    else if (state !== 'active') this.#finished.push(entry);
  }

  hasReady(queue: string): boolean {
    return this.#ready.has(queue);
  }

  /** The next ready job of a queue, active from now on. */
  takeReady(queue: string): JobEntry | undefined {
    const lanes = this.#ready.get(queue);
    const entry = lanes?.shift();
    if (lanes === undefined || entry === undefined) return undefined;
    if (lanes.length === 0) this.#ready.delete(queue);
    this.counts.ready--;
    this.counts.active++;
    entry.state = 'active';
    return entry;
  }

  /** The next job that is due, by either clock. */
  nextDue(now: Now): JobEntry | undefined {
    const { duration, instant } = this.untilDue(now);
    if (duration > 0 && instant > 0) return undefined;
    return (duration <= instant ? this.#durations : this.#instants).peek()!.entry;
  }

  /** Ms until the next job is due by each clock, Infinity for none. */
  untilDue(now: Now): { readonly duration: number; readonly instant: number } {
    const duration = this.#durations.peek();
    const instant = this.#instants.peek();
    return {
      duration: duration === undefined ? Infinity : duration.key - now.mono,
      instant: instant === undefined ? Infinity : instant.key - now.wall,
    };
  }

  /** Takes the oldest done or cancelled job off its shelf, if `giveUp` says so. */
  takeFinished(giveUp: (entry: JobEntry) => boolean): JobEntry | undefined {
    const entry = this.#finished.peek();
    return entry !== undefined && giveUp(entry) ? this.#finished.shift() : undefined;
  }

  /** The same for dead ones. */
  takeDead(giveUp: (entry: JobEntry) => boolean): JobEntry | undefined {
    return this.#dead.take(giveUp);
  }

  #place(entry: JobEntry, turn: number): void {
    if (entry.state === 'ready') {
      entry.readySeq = turn === 0 ? this.takeTurn() : turn;
      this.sawTurn(turn);
    } else if (entry.state === 'delayed') {
      entry.due!.seq = ++this.#dueSeq;
    }
  }

  /** Safe because the lanes tell the living by their state, which has changed already. */
  #leaveReady(entry: JobEntry): void {
    const lanes = this.#lanesOf(entry.queue);
    lanes.leave();
    if (lanes.length === 0) this.#ready.delete(entry.queue);
  }

  #heapOf(due: DueItem): DueHeap {
    return due.instant ? this.#instants : this.#durations;
  }

  #lanesOf(queue: string): ReadyLanes {
    let lanes = this.#ready.get(queue);
    if (lanes === undefined) this.#ready.set(queue, (lanes = new ReadyLanes()));
    return lanes;
  }
}
