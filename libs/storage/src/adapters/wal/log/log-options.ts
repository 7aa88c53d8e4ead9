import type { Clock } from '../../../contract/clock.js';
import type { OrchdError } from '../../../contract/errors.js';
import type { FileSystem } from './file-system.js';
import type { Warn } from './repair.js';

export type LogState = 'open' | 'full' | 'failed';

export interface LogOptions {
  dir: string;
  fs: FileSystem;
  clock: Clock;
  /** What `durable` waits for: a sync, the write and a sync every 50 ms, the write alone. */
  fsync: 'always' | 'interval' | 'never';
  /** Room for batches in a segment; lowered where the disk is small. */
  segmentBytes: number;
  /**
   * Records that open every new segment: the state that no job carries. Called when a segment is begun; the text may reflect records that
   * come to stand a little behind it, so replaying those on top must do no harm.
   */
  preamble(): string;
  /** The log has grown, or was looked after: the moment to look whether it should be cleaned. Called often. */
  onFlushed?(): void;
  /** An ended segment is about to be removed: the next spare then waits for the space, as long as it is not needed soon. */
  isCleaning?(): boolean;
  /** Not called for the state in which `open` resolves with `open`; `full` at opening is told before it resolves. */
  onStateChange(state: LogState, cause?: OrchdError): void;
  warn: Warn;
  /** For tests that compare bytes: the salt of each new segment, 8 bytes. Default: random. */
  newSalt?: () => Buffer;
  /** Opens a folder that is marked MIGRATED too. */
  force?: boolean;
  /** For a log that continues another one: no epoch of its boots is at or below this. */
  lastEpochFloor?: number;
  /** Above it enqueues are refused with `storage_busy`. Default 8 MiB. */
  maxWaitingBytes?: number;
}

/** What the folder holds, in segments. */
export interface LogExtent {
  state: LogState;
  /** Used bytes of all segments. */
  bytes: number;
  oldestSegment: number;
  currentSegment: number;
  currentOffset: number;
}

export interface LogStats extends LogExtent {
  segments: number;
  /** What the folder takes up: `bytes`, the unwritten rest of the current segment, the spares. */
  diskBytes: number;
  waitingBytes: number;
  lastFsyncMs: number;
  fsyncP50Ms: number;
  fsyncP99Ms: number;
}
