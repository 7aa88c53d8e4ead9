import type { Clock } from '../../../contract/clock.js';
import { BatchKind } from './batch-codec.js';
import type { GroupCommit } from './group-commit.js';
import type { Placement } from './placement.js';
import type { WaitingLine } from './waiting-line.js';

const IDLE_MS = 100;
const INTERVAL_SYNC_MS = 50;
const BOOT_CHECK_MS = 1000;

export interface UpkeepParts {
  clock: Clock;
  fsync: 'always' | 'interval' | 'never';
  line: WaitingLine;
  placement: Placement;
  commit: GroupCommit;
  /** Sees to it that the log fails when another process has taken over. */
  watchBoot(): Promise<void>;
}

/** What a log does without being asked: marks when it falls idle, the sync of `interval`, the look at who owns the folder. */
export class Upkeep {
  readonly #timers = new Map<'idle' | 'sync' | 'boot', () => void>();
  #lastAppendMs = 0;
  #stopped = false;

  constructor(private readonly parts: UpkeepParts) {}

  start(): void {
    this.#setTimer('boot', BOOT_CHECK_MS, () => {
      void this.parts.watchBoot().then(() => this.start());
    });
  }

  stop(): void {
    this.#stopped = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  appended(): void {
    this.#lastAppendMs = this.parts.clock.monoMs();
  }

  flushed(): void {
    const { commit, fsync } = this.parts;
    if (fsync === 'interval' && !commit.allSynced) this.#setTimer('sync', INTERVAL_SYNC_MS, () => commit.askForSync());
    if (fsync !== 'never' && !commit.endsWithMark) this.#setTimer('idle', IDLE_MS, () => this.#whenIdle());
  }

  /** Only at rest, and where it fits: a mark is not worth a segment, and must never stand in the way of what waits behind it. */
  mark(): void {
    const { commit, line, placement } = this.parts;
    if (!commit.isResting || commit.endsWithMark || line.first !== undefined || !placement.fitsMark()) return;
    void line.appendOwn(BatchKind.mark, '').durable();
    commit.schedule();
  }

  #whenIdle(): void {
    if (!this.parts.commit.isResting) return; // the end of what is in flight sets the timer again
    const restMs = IDLE_MS - (this.parts.clock.monoMs() - this.#lastAppendMs);
    if (restMs <= 0) this.mark();
    else this.#setTimer('idle', restMs, () => this.#whenIdle());
  }

  /** One timer of a name at a time; the first one stays. */
  #setTimer(name: 'idle' | 'sync' | 'boot', ms: number, callback: () => void): void {
    if (this.#stopped || this.#timers.has(name)) return;
    const cancel = this.parts.clock.setTimer(ms, () => {
      this.#timers.delete(name);
      callback();
    });
    this.#timers.set(name, cancel);
  }
}
