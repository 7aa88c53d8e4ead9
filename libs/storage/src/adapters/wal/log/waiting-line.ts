import { OrchdError } from '../../../contract/errors.js';
import { BatchKind, MAX_BODY_BYTES } from './batch-codec.js';
import { WaitingBatch, type Reserve } from './waiting-batch.js';

/** Where the flusher finds what to write: batches in the order of their first append. */
export class WaitingLine {
  #batches: WaitingBatch[] = [];
  #bytes = 0;

  constructor(
    private readonly limits: { batchBytes: number; waitingBytes: number },
    private readonly syncs: boolean,
    private readonly commit: { schedule(): void; askForSync(): void },
  ) {}

  /** Body bytes that wait for their write. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Even the smallest enqueue would be refused. */
  get isFull(): boolean {
    return this.#bytes >= this.limits.waitingBytes;
  }

  /** Somebody waits for the write of a batch, not for its sync. */
  get wantsWrite(): boolean {
    return this.#batches.some((batch) => batch.wantsWrite);
  }

  get first(): WaitingBatch | undefined {
    return this.#batches[0];
  }

  get last(): WaitingBatch | undefined {
    return this.#batches.at(-1);
  }

  /** Throws `storage_busy` for an enqueue above the limit, `invalid_argument` for what no batch can hold. */
  append(records: string, reserve: Reserve): WaitingBatch {
    const bytes = Buffer.byteLength(records);
    const count = countLines(records);
    if (count === 0 || bytes > MAX_BODY_BYTES) {
      throw new OrchdError('invalid_argument', `An append is 1..${MAX_BODY_BYTES} bytes of lines that end with a line feed, not ${bytes}.`);
    }
    // A call larger than the limit is taken when nothing else waits: refusing it for ever would be no backpressure.
    if (reserve === 'enqueue' && this.#bytes > 0 && this.#bytes + bytes > this.limits.waitingBytes) {
      throw new OrchdError('storage_busy', `${this.#bytes} bytes are waiting for the disk.`);
    }
    const batch = this.#openBatch(bytes, reserve);
    if (reserve !== 'enqueue') batch.mustBeKept = true;
    batch.add(records, bytes, count);
    this.#bytes += bytes;
    return batch;
  }

  /** A batch of the log's own: one record number, nothing shared. */
  appendOwn(kind: BatchKind, text: string): WaitingBatch {
    const batch = new WaitingBatch(kind, kind === BatchKind.cleaned ? 'cleaner' : 'settle', this.syncs, this.commit);
    batch.mustBeKept = true;
    batch.add(text, text.length, 1);
    this.#bytes += batch.bodyBytes;
    this.#batches.push(batch);
    return batch;
  }

  /**
   * The batch to write next: the first, or, where there is no room for it, the first of the cleaner's, which makes room. A batch of
   * the cleaner so goes past older ones of others, never behind younger ones: what it copied is not older than what stands before it.
   */
  next(hasRoom: (batch: WaitingBatch) => boolean): WaitingBatch | undefined {
    const first = this.#batches[0];
    if (first === undefined || hasRoom(first)) return first;
    return this.#batches.find((batch) => batch.forCleaner && hasRoom(batch));
  }

  /** What can be refused, and does not fit. */
  enqueuesWithout(hasRoom: (batch: WaitingBatch) => boolean): WaitingBatch[] {
    return this.#batches.filter((batch) => !batch.mustBeKept && !hasRoom(batch));
  }

  remove(batch: WaitingBatch): void {
    this.#batches.splice(this.#batches.indexOf(batch), 1);
    this.#bytes -= batch.bodyBytes;
  }

  takeAll(): WaitingBatch[] {
    const all = this.#batches;
    this.#batches = [];
    this.#bytes = 0;
    return all;
  }

  /** Where a disk falls behind, enqueues stand apart from what must be kept, so that they can be refused when it is full. */
  #openBatch(bytes: number, reserve: Reserve): WaitingBatch {
    const last = this.last;
    const sameSide = last?.kind === BatchKind.records && last.forCleaner === (reserve === 'cleaner');
    const sameFate = last?.reserve === reserve || this.#batches.length === 1;
    if (sameSide && sameFate && last.bodyBytes + bytes <= this.limits.batchBytes) return last;
    const batch = new WaitingBatch(BatchKind.records, reserve, this.syncs, this.commit);
    this.#batches.push(batch);
    return batch;
  }
}

/** 0 where the text does not end with a line feed. */
export function countLines(text: string): number {
  let count = 0;
  let end = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', end)) {
    end = at + 1;
    count++;
  }
  return end === text.length ? count : 0;
}
