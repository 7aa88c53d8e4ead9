import type { OrchdError } from '../../../contract/errors.js';
import { batchBytes, type BatchKind } from './batch-codec.js';

/** Which part of a nearly full disk an append may use, see FORMAT.md. */
export type Reserve = 'enqueue' | 'settle' | 'cleaner';

/** The records that one group commit takes to the disk together; shared by all calls whose records it holds. */
export interface Batch {
  /** Handed to the operating system: a killed process does not lose it, a power cut may. */
  written(): Promise<void>;
  /** Safe in the declared class. Asking for it makes the batch wait for a sync of its own; one that nobody asks for rides with the next. */
  durable(): Promise<void>;
  /** The segment that holds the batch; -1 until it is written. */
  readonly segment: number;
}

export interface Deferred {
  promise: Promise<void>;
  resolve(): void;
  reject(error: OrchdError): void;
}

export class WaitingBatch implements Batch {
  segment = -1;
  text = '';
  bodyBytes = 0;
  count = 0;
  /** Holds more than enqueues: what has happened already cannot be refused. */
  mustBeKept = false;
  wantsSync = false;
  /** Somebody waits for the write, whatever becomes of the sync. */
  wantsWrite = false;
  /** A batch that waits is open for more until it is closed; one that is being written takes no more. */
  #state: 'waiting' | 'written' | 'durable' | 'failed' = 'waiting';
  #failure: OrchdError | undefined;
  #written: Deferred | undefined;
  #durable: Deferred | undefined;

  constructor(
    readonly kind: BatchKind,
    /** Of its first append; batches are never shared between the cleaner and others. */
    readonly reserve: Reserve,
    /** False: the declared class ends at the write. */
    private readonly syncs: boolean,
    private readonly commit: { schedule(): void; askForSync(): void },
  ) {}

  get forCleaner(): boolean {
    return this.reserve === 'cleaner';
  }

  /** Not durable in the declared class yet, and may still become so. */
  get isOutstanding(): boolean {
    return this.#state === 'waiting' || (this.#state === 'written' && this.syncs);
  }

  get bytes(): number {
    return batchBytes(this.bodyBytes);
  }

  /** All records of a call; `bodyBytes` is their length in UTF-8. */
  add(text: string, bodyBytes: number, count: number): void {
    this.text += text;
    this.bodyBytes += bodyBytes;
    this.count += count;
  }

  written(): Promise<void> {
    if (this.#state === 'written' || this.#state === 'durable') return Promise.resolve();
    if (!this.wantsWrite) {
      this.wantsWrite = true;
      this.commit.schedule();
    }
    return this.#settled((this.#written ??= defer()));
  }

  durable(): Promise<void> {
    if (!this.syncs) return this.written();
    if (this.#state === 'durable') return Promise.resolve();
    if (!this.wantsSync) {
      this.wantsSync = true;
      if (this.#state === 'written') this.commit.askForSync();
    }
    return this.#settled((this.#durable ??= defer()));
  }

  nowWritten(segment: number): void {
    this.segment = segment;
    this.text = '';
    this.#state = 'written';
    this.#written?.resolve();
  }

  nowDurable(): void {
    this.#state = 'durable';
    this.#durable?.resolve();
  }

  nowFailed(error: OrchdError): void {
    this.text = '';
    this.#state = 'failed';
    this.#failure = error;
    this.#written?.reject(error);
    this.#durable?.reject(error);
  }

  #settled(deferred: Deferred): Promise<void> {
    if (this.#failure) deferred.reject(this.#failure);
    return deferred.promise;
  }
}

export function defer(): Deferred {
  const deferred = {} as Deferred;
  deferred.promise = new Promise<void>((resolve, reject) => {
    deferred.resolve = resolve;
    deferred.reject = reject;
  });
  // A caller may ask only in order to have the sync made; one that waits still gets the rejection.
  deferred.promise.catch(() => undefined);
  return deferred;
}
