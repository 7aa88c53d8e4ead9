import type { Clock } from '../../../contract/clock.js';
import { OrchdError } from '../../../contract/errors.js';
import { batchBytes, BatchKind } from './batch-codec.js';
import { unavailable } from './damage.js';
import type { Placement } from './placement.js';
import type { SegmentChain } from './segment-chain.js';
import type { SyncTimes } from './sync-times.js';
import { defer, type Deferred, type WaitingBatch } from './waiting-batch.js';
import { countLines, type WaitingLine } from './waiting-line.js';

/** A disk that needs longer is given write and sync apart, so that a claim does not wait for the sync of others, and no write blocks. */
const SLOW_SYNC_MS = 5;
/** What one write takes at most, unless a single batch is larger. */
const FLUSH_BYTES = 2 * 2 ** 20;

/** A write without a sync is a blocking one up to this size, as long as the last took no longer than that. */
const NOW_BYTES = 64 * 1024;
const NOW_MS = 1;

export interface GroupCommitParts {
  line: WaitingLine;
  chain: SegmentChain;
  placement: Placement;
  times: SyncTimes;
  clock: Clock;
  /** False: a batch's declared class ends with its write, and nobody will ask whether it was synced. */
  syncs: boolean;
  /** Rejects when this process may not begin another segment. */
  mayGoOn(): Promise<void>;
  onFailure(error: OrchdError): void;
  onFlushed(): void;
}

/**
 * The one writer of the log. A flush takes what waits to the disk in one write; then a sync begins where somebody asked for one, or the
 * write is synced by itself; and meanwhile the next flush fills itself. No timer, at most one write and one sync in flight. A flush does not
 * wait for the sync when somebody waits for a batch's write alone (a claim, whose worker stands idle); otherwise it does, since writing more
 * often only costs.
 *
 * Invariant: a sync acknowledges only batches whose write had ended before it began.
 */
export class GroupCommit {
  #state: 'idle' | 'scheduled' | 'flushing' | 'failed' = 'idle';
  /** Handed to a write that has not ended. */
  #inFlight: WaitingBatch[] = [];
  /** Written, and not covered by a sync that has begun. */
  #unsynced: WaitingBatch[] = [];
  /** Covered by the sync in flight. */
  #inSync: WaitingBatch[] = [];
  #syncing: Promise<void> | undefined;
  #syncAsked = false;
  #syncWaiters: Deferred[] = [];
  #restWaiters: Deferred[] = [];
  #flushing: Promise<void> = Promise.resolve();
  #lastWritten: number;
  #lastSynced: number;
  #lastWriteMs = 0;
  #syncBegunMs = 0;
  readonly #buffer = Buffer.allocUnsafeSlow(FLUSH_BYTES);

  constructor(
    private readonly parts: GroupCommitParts,
    lastRecord: number,
  ) {
    this.#lastWritten = lastRecord;
    this.#lastSynced = lastRecord;
  }

  /** Nothing has been written since the last mark of this boot, if anything at all. */
  endsWithMark = true;

  /** Nothing is in flight. */
  get isResting(): boolean {
    return this.#state === 'idle' && this.#syncing === undefined;
  }

  get allSynced(): boolean {
    return this.#lastSynced === this.#lastWritten;
  }

  /** What one turn of the event loop appends goes to the disk together. */
  schedule(): void {
    if (this.#state !== 'idle') return;
    this.#state = 'scheduled';
    setImmediate(() => {
      this.#flushing = this.#flush();
    });
  }

  askForSync(): void {
    this.#syncAsked = true;
    this.schedule();
  }

  /** Resolves when all that was written before the call is synced, in every mode. */
  async syncAll(): Promise<void> {
    if (this.#state === 'failed') throw new OrchdError('storage_unavailable', 'The log has failed.');
    if (this.allSynced && this.#inFlight.length === 0) return;
    const waiter = defer();
    this.#syncWaiters.push(waiter);
    this.askForSync();
    await waiter.promise;
  }

  /** Resolves when nothing is in flight and nothing waits for which there is room. */
  async rest(): Promise<void> {
    if (this.#state === 'failed' || (this.isResting && !this.#hasWork())) return;
    const waiter = defer();
    this.#restWaiters.push(waiter);
    this.schedule();
    await waiter.promise;
  }

  /** Resolves when no write or sync is in flight any more, after a failure too: a file must not be closed under one. */
  async ended(): Promise<void> {
    await this.#flushing;
    await this.#syncing;
  }

  /** Durability is gone: what is in flight may or may not be on disk, what waits is not, and nothing is written or synced from here on. */
  fail(error: OrchdError): void {
    if (this.#state === 'failed') return;
    this.#state = 'failed';
    const unknown = new OrchdError('outcome_unknown', `It is not known whether the record is on disk: ${error.message}`, { cause: error });
    for (const batch of this.#inSync.concat(this.#unsynced, this.#inFlight)) batch.nowFailed(unknown);
    for (const batch of this.parts.line.takeAll()) batch.nowFailed(error);
    for (const waiter of this.#syncWaiters) waiter.reject(error);
    for (const waiter of this.#restWaiters) waiter.resolve();
    this.#inSync = this.#unsynced = this.#inFlight = [];
    this.parts.onFailure(error);
  }

  async #flush(): Promise<void> {
    // A sync can have failed since this flush was scheduled; to write on would vouch for what that sync has lost.
    if (this.#hasFailed()) return;
    this.#state = 'flushing';
    try {
      const first = this.#nextToWrite();
      if (first && (this.#fitsNow(first) || (await this.#makeRoomFor(first)))) await this.#write(first);
      if (this.#mustSync()) this.#beginSync();
    } catch (error) {
      this.fail(unavailable('The log cannot be written', error));
    }
    if (this.#hasFailed()) return;
    if (this.parts.placement.isFull) this.#refuseEnqueues();
    this.#state = 'idle';
    this.#goOn();
  }

  /** Between two flushes: begins the next, or tells those who wait for the end of all. */
  #goOn(): void {
    if (this.#hasWork()) this.schedule();
    else if (this.isResting) for (const waiter of this.#restWaiters.splice(0)) waiter.resolve();
    this.parts.onFlushed();
  }

  /** Nothing needs to be done before the batch is written. */
  #fitsNow(batch: WaitingBatch): boolean {
    return (batch.kind !== BatchKind.mark || this.allSynced) && this.parts.placement.fitsHere(batch, 0);
  }

  /** False: there is no segment that could take the batch now. */
  async #makeRoomFor(batch: WaitingBatch): Promise<boolean> {
    // A mark says that all before it is synced, and so does the header of the next segment.
    await this.#syncNow();
    // Again when it has grown meanwhile: a batch that waits takes more as long as it is not large.
    while (!this.parts.placement.fitsHere(batch, 0)) if (!(await this.#beginSegmentFor(batch))) return false;
    return true;
  }

  async #beginSegmentFor(batch: WaitingBatch): Promise<boolean> {
    await this.parts.mayGoOn();
    if (this.#hasFailed()) return false;
    return (await this.parts.placement.begin(batch, this.#lastWritten + 1)) && !this.#hasFailed();
  }

  /** On a full disk nobody is kept waiting who can be told so. Between placing and writing a batch it would be too late for that batch. */
  #refuseEnqueues(): void {
    const { line, placement } = this.parts;
    for (const batch of line.enqueuesWithout(placement.hasRoom)) {
      line.remove(batch);
      batch.nowFailed(new OrchdError('storage_full', `There is no space for an append of ${batch.bodyBytes} bytes.`));
    }
  }

  /** Writes the batch, and those behind it that fit, in one go. */
  async #write(first: WaitingBatch): Promise<void> {
    if (this.#hasFailed()) return;
    const { chain, line, placement } = this.parts;
    const { current } = chain;
    const opening = placement.takeOpening();
    const buffer = this.#bufferFor(first.bytes + batchBytes(opening.bytes));
    let last = this.#lastWritten;
    let end = 0;
    const encode = (kind: BatchKind, count: number, text: string, bytes: number) => {
      end = current.codec.encode(buffer, end, { kind, first: last + 1, count, durable: this.#lastSynced }, text, bytes);
      last += count;
    };
    if (opening.bytes > 0) encode(BatchKind.records, countLines(opening.text), opening.text, opening.bytes);
    for (let batch: WaitingBatch | undefined = first; batch;) {
      line.remove(batch);
      this.#inFlight.push(batch);
      encode(batch.kind, batch.count, batch.text, batch.bodyBytes);
      const next: WaitingBatch | undefined = line.first;
      batch = next && end + next.bytes <= buffer.length && placement.fitsHere(next, end) ? next : undefined;
    }
    const { synced, count } = await this.#put(buffer, end);
    if (this.#hasFailed()) return;
    if (count !== end) throw new Error(`only ${count} of ${end} bytes were written`);
    current.offset += end;
    this.#lastWritten = last;
    this.#settleWritten(current.segment);
    if (synced) this.#settleSynced(this.#unsynced.splice(0), last);
  }

  /** Writes the first `bytes` of the buffer behind all that was written before, in the way that is the quickest here and now. */
  async #put(buffer: Buffer, bytes: number): Promise<{ synced: boolean; count: number }> {
    const { file, offset } = this.parts.chain.current;
    const synced = this.#mayWriteSynced();
    const start = this.parts.clock.monoMs();
    let count: number;
    if (synced) count = await file.writeSynced(buffer, bytes, offset);
    else if (this.#mayWriteNow(bytes)) count = file.writeNow(buffer, bytes, offset);
    else count = await file.write(buffer, bytes, offset);
    const tookMs = this.parts.clock.monoMs() - start;
    if (synced) this.parts.times.add(tookMs);
    else this.#lastWriteMs = tookMs;
    return { synced, count };
  }

  /**
   * Write and sync in one, where all that came before is synced and nobody waits for the write alone: one way through the thread pool
   * instead of two, which take as long as the sync itself on a fast disk.
   */
  #mayWriteSynced(): boolean {
    if (!this.#isFastDisk || !this.allSynced) return false;
    return this.#inFlight.some((batch) => batch.wantsSync) && !this.#inFlight.some((batch) => batch.wantsWrite);
  }

  /**
   * Blocking, where the page cache takes it in microseconds: a claim that waits for its write is spared the way through the thread pool. Not
   * without syncs: it is they that keep the cache from filling up to where the kernel holds up a write. See ADR 0008.
   */
  #mayWriteNow(bytes: number): boolean {
    return this.#isFastDisk && bytes <= NOW_BYTES && this.#lastWriteMs <= NOW_MS;
  }

  /** And one that syncs. The sync under way counts too: a disk that stands still is not waited for by everybody. */
  get #isFastDisk(): boolean {
    const { syncs, times, clock } = this.parts;
    const isLate = this.#syncing !== undefined && clock.monoMs() - this.#syncBegunMs > SLOW_SYNC_MS;
    return syncs && !isLate && times.lastMs <= SLOW_SYNC_MS;
  }

  #settleWritten(segment: number): void {
    this.endsWithMark = this.#inFlight.at(-1)?.kind === BatchKind.mark;
    for (const batch of this.#inFlight) {
      batch.nowWritten(segment);
      if (batch.wantsSync) this.#syncAsked = true;
    }
    if (this.parts.syncs) this.#unsynced.push(...this.#inFlight);
    this.#inFlight = [];
  }

  /** Resolves when all that is written is synced. Part of a flush, so that nothing is written meanwhile. */
  async #syncNow(): Promise<void> {
    await this.#syncing;
    if (this.allSynced || this.#hasFailed()) return;
    this.#beginSync();
    await this.#syncing;
  }

  /** Safe beside a write: the sync vouches only for what had been written when it began. */
  #beginSync(): void {
    this.#syncing = this.#sync()
      .catch((error: unknown) => this.fail(unavailable('The log cannot be synced', error)))
      .finally(() => {
        this.#syncing = undefined;
        // A flush that is scheduled or under way looks for itself.
        if (this.#state === 'idle') this.#goOn();
      });
  }

  async #sync(): Promise<void> {
    const upTo = this.#lastWritten;
    const waiters = this.#syncWaiters.length;
    this.#inSync = this.#unsynced;
    this.#unsynced = [];
    this.#syncAsked = false;
    this.#syncBegunMs = this.parts.clock.monoMs();
    await this.parts.chain.current.file.sync();
    if (this.#hasFailed()) return;
    this.parts.times.add(this.parts.clock.monoMs() - this.#syncBegunMs);
    const durable = this.#inSync;
    this.#inSync = [];
    this.#settleSynced(durable, upTo);
    for (const waiter of this.#syncWaiters.splice(0, waiters)) waiter.resolve();
  }

  #settleSynced(durable: readonly WaitingBatch[], upTo: number): void {
    this.#lastSynced = upTo;
    for (const batch of durable) batch.nowDurable();
  }

  #mustSync(): boolean {
    if (this.#syncing !== undefined || this.#hasFailed()) return false;
    if (!this.allSynced) return this.#syncAsked;
    this.#syncAsked = false;
    for (const waiter of this.#syncWaiters.splice(0)) waiter.resolve();
    return false;
  }

  /** While a sync is under way only what somebody wants written, and what stands before it. */
  #nextToWrite(): WaitingBatch | undefined {
    const { line, placement } = this.parts;
    return this.#syncing === undefined || line.wantsWrite ? line.next(placement.hasRoom) : undefined;
  }

  #hasWork(): boolean {
    return (this.#syncAsked && this.#syncing === undefined) || this.#nextToWrite() !== undefined;
  }

  #hasFailed(): boolean {
    return this.#state === 'failed';
  }

  #bufferFor(bytes: number): Buffer {
    return bytes <= this.#buffer.length ? this.#buffer : Buffer.allocUnsafeSlow(bytes);
  }
}
