import { hasCode, OrchdError } from '../../../contract/errors.js';
import { BatchKind } from './batch-codec.js';
import { passes, unavailable } from './damage.js';
import { GroupCommit } from './group-commit.js';
import type { LogExtent, LogOptions, LogState, LogStats } from './log-options.js';
import { nextEpochFloor, openFolder, segmentFileBytes, type OpenedFolder } from './opening.js';
import { Placement } from './placement.js';
import type { Replay } from './recovery.js';
import { SegmentChain } from './segment-chain.js';
import { HEADER_BYTES } from './segment-header.js';
import { SpareSegments } from './spare-segments.js';
import { probeSyncs } from './sync-probe.js';
import { SyncTimes } from './sync-times.js';
import { Upkeep } from './upkeep.js';
import type { Batch, Reserve, WaitingBatch } from './waiting-batch.js';
import { WaitingLine } from './waiting-line.js';

export type { Batch, LogExtent, LogOptions, LogState, LogStats, Replay, Reserve };

const MAX_BATCH_BYTES = 2 ** 20;
const BATCHES_PER_SEGMENT = 4;
const DEFAULT_WAITING_BYTES = 8 * 2 ** 20;

/**
 * A log of text records in a folder, as FORMAT.md describes it. It knows bytes, batches and segments; what a record means is its user's
 * business.
 *
 * `open` -> replay -> `append` ... -> `close`. Once it has failed it stays failed: every append throws `storage_unavailable`.
 */
export class WriteAheadLog {
  /** Epochs handed out by this boot are at least this; above all that any earlier boot can have handed out. */
  readonly epochFloor: number;
  /** Number of this opening; the folder's highest. */
  readonly boot: number;
  /** Room for batches in a segment of this boot, after what the disk allowed. */
  readonly segmentBytes: number;

  readonly #line: WaitingLine;
  readonly #spares: SpareSegments;
  readonly #chain: SegmentChain;
  readonly #placement: Placement;
  readonly #commit: GroupCommit;
  readonly #times = new SyncTimes();
  readonly #upkeep: Upkeep;
  #failure: OrchdError | undefined;
  /** The segment that is being, or was last, removed. */
  #removing: number | undefined;
  /** Resolves when no segment is being removed. */
  #removal: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #phase: 'opening' | 'open' | 'closed' = 'opening';
  /** The last appended batch of the cleaner and of everybody else: the cleaner's may go past the others. */
  #lastBatch: WaitingBatch | undefined;
  #lastOfCleaner: WaitingBatch | undefined;

  /**
   * Resolves when all records of the folder have been handed to `replay` and are on disk, and the log can be appended to. Rejects with
   * `storage_locked`, `storage_damaged`, `storage_unavailable`, or `storage_full` where not even one segment finds space.
   */
  static async open(options: LogOptions, replay: Replay): Promise<WriteAheadLog> {
    const opened = await openFolder(options, replay);
    let log: WriteAheadLog | undefined;
    try {
      log = new WriteAheadLog(options, opened, await segmentFileBytes(options, opened));
      await log.#begin();
      return log;
    } catch (error) {
      await log?.close();
      if (!log) await opened.release();
      throw unavailable('The log cannot be begun', error);
    }
  }

  private constructor(
    private readonly options: LogOptions,
    private readonly opened: OpenedFolder,
    fileBytes: number,
  ) {
    const { dir, fs, clock, fsync } = options;
    const { verdict, folder } = opened;
    this.boot = verdict.boot + 1;
    this.epochFloor = nextEpochFloor(Math.max(verdict.epochFloor, options.lastEpochFloor ?? 0), clock.wallMs());
    this.segmentBytes = fileBytes - HEADER_BYTES;
    const syncs = fsync === 'always';
    const limits = {
      batchBytes: Math.min(MAX_BATCH_BYTES, Math.floor(fileBytes / BATCHES_PER_SEGMENT)),
      waitingBytes: options.maxWaitingBytes ?? DEFAULT_WAITING_BYTES,
    };
    this.#line = new WaitingLine(limits, syncs, { schedule: () => this.#commit.schedule(), askForSync: () => this.#commit.askForSync() });
    this.#spares = new SpareSegments(fs, dir, fileBytes, clock, {
      onRoom: () => this.#onRoom(),
      onStateChange: (state, cause) => {
        options.onStateChange(state, cause);
        this.#commit.schedule(); // a flush refuses what waits and finds no room
      },
      onFailure: (error) => this.#commit.fail(unavailable('The next segment cannot be prepared', error)),
    });
    const { boot, epochFloor } = this;
    this.#chain = new SegmentChain(fs, dir, folder, { boot, epochFloor }, verdict.segments, options.newSalt);
    this.#placement = new Placement(this.#chain, this.#spares, () => options.preamble());
    this.#commit = new GroupCommit(
      {
        line: this.#line,
        chain: this.#chain,
        placement: this.#placement,
        times: this.#times,
        clock,
        syncs,
        mayGoOn: () => this.#checkBoot(),
        onFailure: (error) => this.#onFailure(error),
        onFlushed: () => {
          this.options.onFlushed?.();
          this.prepareAhead();
          this.#upkeep.flushed();
        },
      },
      verdict.nextRecord - 1,
    );
    this.#upkeep = new Upkeep({
      clock,
      fsync,
      line: this.#line,
      placement: this.#placement,
      commit: this.#commit,
      watchBoot: () => this.#watchBoot(),
    });
  }

  /**
   * Takes all records of one call, each ended by a line feed; they come to stand in one batch. Throws at once `storage_full` and
   * `storage_busy` (`enqueue` only), `storage_unavailable`, `not_open`, `invalid_argument`; what it has taken is refused later only when
   * the log fails or is closed first, or, `enqueue` only, when the disk falls full before its turn (`storage_full`).
   */
  append(records: string, reserve: Reserve = 'settle'): Batch {
    this.assertTakes(reserve);
    const batch = this.#line.append(records, reserve);
    if (reserve === 'cleaner') this.#lastOfCleaner = batch;
    else this.#lastBatch = batch;
    this.#upkeep.appended();
    this.#commit.schedule();
    return batch;
  }

  /** Throws what `append` would throw for a record of no size. */
  assertTakes(reserve: Reserve): void {
    const refusal = this.#refusal(reserve);
    if (refusal) throw refusal;
  }

  takes(reserve: Reserve): boolean {
    return this.#refusal(reserve) === undefined;
  }

  /** Nothing is outstanding: `barrier` would resolve at once. */
  get isDurable(): boolean {
    return this.#failure === undefined && !this.#lastBatch?.isOutstanding && !this.#lastOfCleaner?.isOutstanding;
  }

  /** Resolves when everything appended so far, what was refused excepted, is durable in the declared class. Rejects when the log fails. */
  async barrier(): Promise<void> {
    this.#assertWorks();
    await Promise.all([durableOrRefused(this.#lastBatch), durableOrRefused(this.#lastOfCleaner)]);
  }

  /**
   * Removes the oldest segment, never the current one. First makes durable, in every mode, that it may be gone, and with it all that the
   * cleaner appended and all that was written before. When it resolves the name is gone for good.
   */
  async removeOldest(segment: number): Promise<void> {
    this.#assertWorks();
    if (segment !== this.#chain.oldest || segment === this.#chain.current.segment || segment === this.#removing) {
      throw new OrchdError('invalid_argument', `Segment ${segment} is not the oldest one, still written, or being removed.`);
    }
    this.#removing = segment;
    const removal = this.#remove(segment);
    this.#removal = removal.catch(() => undefined);
    await removal;
  }

  /**
   * Makes up for spares that were taken: at once, but not beside a segment that is about to go, so that the folder never takes up both.
   * Where that one stays long, when three quarters of the current segment are used, well before the next one has to begin.
   */
  prepareAhead(): void {
    if (!this.#spares.areMissing || this.#phase !== 'open') return;
    const { offset, fileBytes } = this.#chain.current;
    const isNeededSoon = offset + this.#line.bytes > 0.75 * fileBytes;
    if (isNeededSoon || !this.options.isCleaning?.()) void this.#spares.fill();
  }

  extent(): LogExtent {
    const { segment, offset } = this.#chain.current;
    return {
      state: this.state,
      bytes: this.#chain.usedBytes,
      oldestSegment: this.#chain.oldest,
      currentSegment: segment,
      currentOffset: offset,
    };
  }

  stats(): LogStats {
    const { p50Ms, p99Ms } = this.#times.percentiles();
    const { current, usedBytes } = this.#chain;
    return {
      ...this.extent(),
      segments: this.#chain.count,
      diskBytes: usedBytes + current.fileBytes - current.offset + this.#spares.bytes,
      waitingBytes: this.#line.bytes,
      lastFsyncMs: this.#times.lastMs,
      fsyncP50Ms: p50Ms,
      fsyncP99Ms: p99Ms,
    };
  }

  get state(): LogState {
    return this.#failure ? 'failed' : this.#spares.state;
  }

  /** Writes and syncs all that waits and has room, in every mode, and lets the folder go. What has no room is refused (`storage_full`). */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const wasOpen = this.#phase === 'open';
    this.#phase = 'closed';
    if (wasOpen) await this.#drain();
    await this.#removal;
    this.#upkeep.stop();
    await this.#commit.ended();
    try {
      await this.#spares.close();
      await this.#chain.close();
    } finally {
      await this.opened.release();
    }
  }

  async #begin(): Promise<void> {
    const { clock, warn } = this.options;
    await this.#spares.adopt(this.opened.contents.spares);
    await this.#placement.beginBoot(this.opened.verdict.nextRecord);
    await this.#announce();
    const { file, offset } = this.#chain.current;
    await probeSyncs(file, offset, this.#times, clock, warn);
    await this.#spares.fill();
    this.#assertWorks();
    this.#phase = 'open';
    this.#upkeep.start();
  }

  async #announce(): Promise<void> {
    try {
      await this.opened.lock.announce(this.boot);
    } catch (error) {
      if (!passes(error)) throw error;
      // The lock itself holds; only the second look at who owns the folder is weaker for this boot.
      this.options.warn('The boot number could not be written into LOCK.', { boot: this.boot, cause: String(error) });
    }
  }

  #refusal(reserve: Reserve): OrchdError | undefined {
    if (this.#failure) return this.#failure;
    if (this.#phase !== 'open') return new OrchdError('not_open', 'The log is not open.');
    if (reserve !== 'enqueue') return undefined;
    if (this.#spares.state === 'full') return new OrchdError('storage_full', 'The disk is full.');
    return this.#line.isFull ? new OrchdError('storage_busy', `${this.#line.bytes} bytes are waiting for the disk.`) : undefined;
  }

  #assertWorks(): void {
    if (this.#failure) throw this.#failure;
  }

  async #remove(segment: number): Promise<void> {
    const cleaned = this.#appendOwn(BatchKind.cleaned, `${segment}\n`);
    this.#lastOfCleaner = cleaned;
    await cleaned.written();
    await this.#commit.syncAll();
    try {
      await this.#chain.unlink(segment);
    } catch (error) {
      this.#commit.fail(unavailable(`Segment ${segment} cannot be removed`, error));
    }
    this.#assertWorks();
    if (this.#spares.state === 'full') void this.#spares.fill();
  }

  async #drain(): Promise<void> {
    await this.#commit.rest();
    // What waits for a spare that is being prepared still gets it.
    while (this.#line.first && this.state === 'open') {
      await this.#spares.fill();
      await this.#commit.rest();
    }
    for (const batch of this.#line.takeAll())
      batch.nowFailed(new OrchdError('storage_full', 'The log was closed while the disk was full.'));
    this.#upkeep.mark();
    await this.#commit.rest();
    // A failure has been told to all that waited; there is nothing left to do about it here.
    await this.#commit.syncAll().catch(() => undefined);
  }

  #appendOwn(kind: BatchKind, text: string): WaitingBatch {
    const batch = this.#line.appendOwn(kind, text);
    this.#commit.schedule();
    return batch;
  }

  #onRoom(): void {
    this.#placement.unblock();
    this.#commit.schedule();
  }

  async #watchBoot(): Promise<void> {
    await this.#checkBoot().catch((error: unknown) => this.#commit.fail(unavailable('The folder was taken over', error)));
  }

  async #checkBoot(): Promise<void> {
    const boot = await this.opened.lock.announcedBoot();
    if (boot === undefined || boot <= this.boot) return;
    throw new OrchdError('storage_unavailable', `Boot ${boot} has taken over ${this.options.dir}; this one is boot ${this.boot}.`);
  }

  #onFailure(error: OrchdError): void {
    this.#failure = error;
    this.#upkeep.stop();
    this.#spares.halt();
    if (this.#phase === 'open') this.options.onStateChange('failed', error);
  }
}

async function durableOrRefused(batch: WaitingBatch | undefined): Promise<void> {
  if (!batch?.isOutstanding) return;
  await batch.durable().catch((error: unknown) => {
    if (!hasCode(error, 'storage_full')) throw error;
  });
}
