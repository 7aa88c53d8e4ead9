import { systemClock, type OrchdError, type StorageCapabilities, type StorageHealth } from '../../contract/index.js';
import { JobTable, type JobEntry, type TableEvent } from '../../job-table/index.js';
import { JobTableAdapter, type JobTableAdapterOptions, type Ticket } from '../../table-adapter/index.js';
import { LogCleaner } from './log-cleaner.js';
import type { FileSystem } from './log/file-system.js';
import { nodeFileSystem } from './log/node-file-system.js';
import { WriteAheadLog, type Batch } from './log/write-ahead-log.js';
import { encodeEvent, encodeJob, RecordDecoder } from './record-codec.js';

export type FsyncMode = 'always' | 'interval' | 'never';

export interface WalStorageOptions extends JobTableAdapterOptions {
  /** The folder of the log; made (0700) if it is missing. One process at a time may open it. */
  readonly dir: string;
  /** When an acknowledged write is on disk: before the acknowledgement (default), within 50 ms, or when the system likes. */
  readonly fsync?: FsyncMode;
  /** Default 16 MiB. */
  readonly segmentBytes?: number;
  /** What may wait for the disk before enqueue is refused with `storage_busy`; default 64 MiB. */
  readonly maxWaitingBytes?: number;
  /** Open a folder whose jobs were moved to another storage (`storage_migrated`) all the same. */
  readonly force?: boolean;
  /** Told once about a torn tail, a disk that does not sync, a full disk. */
  readonly warn?: (message: string, details: object) => void;
  /** Told of the progress of a replay, in bytes. */
  readonly onReplay?: (done: number, total: number) => void;
  /** For tests. */
  readonly fs?: FileSystem;
  /** For tests that compare bytes: the salt of each new segment. */
  readonly newSalt?: () => Buffer;
}

const DURABILITY = { always: 'fsync', interval: 'interval', never: 'os' } as const;
export const DEFAULT_SEGMENT_BYTES = 16 * 1024 * 1024;
const DEFAULT_THREADS = 4;
const ENOUGH_THREADS = 16;
const DEFAULT_MAX_WAITING_BYTES = 64 * 1024 * 1024;

/**
 * Jobs in a write-ahead log in a folder: JobTable for what they are, the log for what survives. Every promise about durability is the
 * log's; see FORMAT.md for what is written and `docs/storage.md` for what each fsync mode promises.
 *
 * open() rejects `storage_locked` (another process has the folder), `storage_damaged` (acknowledged data cannot be read; nothing was
 * changed), `storage_migrated` (its jobs live elsewhere), `storage_unavailable` (folder not writable, disk failing).
 */
export class WalStorageAdapter extends JobTableAdapter {
  readonly capabilities: StorageCapabilities;
  readonly #options: WalStorageOptions;
  #log: WriteAheadLog | null = null;
  #cleaner: LogCleaner | null = null;
  #failure: OrchdError | null = null;
  #full = false;
  #replay: { done: number; total: number } | null = null;

  constructor(options: WalStorageOptions) {
    super(options);
    this.#options = options;
    this.capabilities = { kind: 'wal', durability: DURABILITY[options.fsync ?? 'always'], shared: false, persistent: true };
  }

  health(): StorageHealth {
    const state = this.lifecycle !== 'open' ? this.lifecycle : this.#failure ? 'failed' : this.#full ? 'full' : 'open';
    const reason = state === 'open' ? null : (this.#failure?.message ?? REASONS[state]);
    return { state, writable: state === 'open', reason, replay: this.#replay, figures: this.#figures() };
  }

  protected override async doOpen(): Promise<void> {
    this.#warnOfSmallThreadPool();
    this.#failure = null;
    this.#full = false;
    const table = new JobTable({ random: this.random, onForget: (entry) => this.#cleaner?.left(entry) });
    const log = await this.#replayInto(table);
    this.beginWith(table);
    this.#log = log;
    this.#cleaner = new LogCleaner(table, log, encodeJob);
    for (const entry of table.jobs.all()) this.#cleaner.placed(entry, entry.segment, entry.recordBytes);
    this.continueClock(table.latestMono);
    for (const event of table.endReplay(this.now(), log.epochFloor)) this.keep(event);
    this.#cleaner.clean();
  }

  protected override async doClose(): Promise<void> {
    await super.doClose();
    // What it copies may wait for room until the log, at its end, refuses what has none.
    const cleaned = this.#cleaner?.stop();
    if (this.#failure === null) {
      this.keepLastWords();
      this.keep(this.table.clock(this.now().mono));
    }
    await this.#log?.close();
    await cleaned;
    this.#log = null;
    this.#cleaner = null;
  }

  protected override assertTakes(purpose: 'enqueue' | 'settle'): void {
    this.#open.assertTakes(purpose);
  }

  protected override keep(event: TableEvent): Ticket {
    return this.#open.append(encodeEvent(event));
  }

  protected override keepJobs(entries: readonly JobEntry[]): Ticket {
    let records = '';
    for (const entry of entries) {
      const record = encodeJob(entry);
      entry.recordBytes = Buffer.byteLength(record);
      records += record;
    }
    return this.#open.append(records, 'enqueue');
  }

  protected override onShown(entries: readonly JobEntry[], ticket: Ticket): void {
    const { segment } = ticket as Batch;
    for (const entry of entries) this.#cleaner!.placed(entry, segment, entry.recordBytes);
  }

  protected override barrier(): Promise<void> | null {
    return this.#open.isDurable ? null : this.#open.barrier();
  }

  protected override mayClaim(): boolean {
    return this.#open.takes('enqueue');
  }

  get #open(): WriteAheadLog {
    return this.#log!;
  }

  async #replayInto(table: JobTable): Promise<WriteAheadLog> {
    const { dir, fsync = 'always', segmentBytes = DEFAULT_SEGMENT_BYTES, maxWaitingBytes = DEFAULT_MAX_WAITING_BYTES } = this.#options;
    const { force = false, fs = nodeFileSystem, warn = () => undefined, clock = systemClock, newSalt } = this.#options;
    const decoder = new RecordDecoder();
    table.beginReplay();
    try {
      return await WriteAheadLog.open(
        {
          dir,
          fs,
          fsync,
          segmentBytes,
          maxWaitingBytes,
          force,
          clock,
          // Non-job state, for the head of every segment.
          preamble: () => encodeEvent(table.clock(this.#log === null ? table.latestMono : this.now().mono)),
          onFlushed: () => this.#cleaner?.clean(),
          isCleaning: () => this.#cleaner?.isBusy ?? false,
          onStateChange: (state, cause) => this.#onLogState(state, cause),
          warn,
          newSalt,
        },
        {
          records: (lines, segment) => {
            for (const line of lines) applyLine(table, decoder.decode(line), segment, line);
          },
          progress: (done, total) => {
            this.#replay = { done, total };
            this.#options.onReplay?.(done, total);
          },
        },
      );
    } finally {
      this.#replay = null;
    }
  }

  /** Every sync goes through libuv's pool; four pbkdf2 calls in a pool of the default size held one up for two seconds (measured). */
  #warnOfSmallThreadPool(): void {
    const threads = Number(process.env.UV_THREADPOOL_SIZE ?? DEFAULT_THREADS);
    if (this.#options.fs !== undefined || threads >= ENOUGH_THREADS) return;
    const message = `libuv has ${threads} threads: crypto, DNS or other files may hold up the log; start Node with UV_THREADPOOL_SIZE=${ENOUGH_THREADS}`;
    this.#options.warn?.(message, { threads });
  }

  #onLogState(state: 'open' | 'full' | 'failed', cause?: OrchdError): void {
    this.#full = state === 'full';
    if (this.#full) this.#cleaner?.clean();
    if (state === 'failed' && cause !== undefined) {
      this.#failure = cause;
      this.emit({ type: 'failed', error: cause });
    } else {
      this.wake();
    }
  }

  #figures(): StorageHealth['figures'] {
    if (this.#log === null || this.#cleaner === null) return {};
    const { segments, bytes, lastFsyncMs, fsyncP50Ms, fsyncP99Ms } = this.#log.stats();
    const { liveBytes } = this.#cleaner;
    return { segments, bytes, liveBytes, liveRatio: bytes === 0 ? 1 : Math.min(1, liveBytes / bytes), lastFsyncMs, fsyncP50Ms, fsyncP99Ms };
  }
}

const REASONS = {
  closed: 'the log is closed',
  opening: 'the log is being replayed',
  closing: 'the log is being closed',
  full: 'the disk is full',
  failed: 'the disk failed',
} as const;

function applyLine(table: JobTable, event: TableEvent, segment: number, line: string): void {
  if (event.kind === 'put') {
    event.entry.segment = segment;
    event.entry.recordBytes = Buffer.byteLength(line) + 1;
  }
  table.apply(event);
}
