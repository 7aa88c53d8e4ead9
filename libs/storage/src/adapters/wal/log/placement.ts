import { OrchdError } from '../../../contract/errors.js';
import { batchBytes, BatchKind } from './batch-codec.js';
import { passes } from './damage.js';
import { NotBegunError, type SegmentChain } from './segment-chain.js';
import { HEADER_BYTES } from './segment-header.js';
import type { Spare, SpareSegments } from './spare-segments.js';
import type { WaitingBatch } from './waiting-batch.js';

/** The records that open a segment, as text and in UTF-8 bytes. */
interface Opening {
  text: string;
  bytes: number;
}

const NOTHING: Opening = { text: '', bytes: 0 };

/** Where the next batch goes: the current segment, a new one, or nowhere until there is room. */
export class Placement {
  /** Of the current segment, until it is taken to be written. */
  #opening = NOTHING;
  /** Of the last segment begun: the next one will need about as much. */
  #openingBytes = 0;
  /** Batches that met a full disk on their way into a segment; looked at again when there is room. */
  readonly #blocked = new Set<WaitingBatch>();

  constructor(
    private readonly chain: SegmentChain,
    private readonly spares: SpareSegments,
    private readonly preamble: () => string,
  ) {}

  readonly hasRoom = (batch: WaitingBatch): boolean => {
    if (this.fitsHere(batch, 0)) return true;
    if (batch.kind === BatchKind.mark || this.#blocked.has(batch)) return false;
    return this.#isOversize(batch) || this.spares.has(batch.forCleaner);
  };

  /** Behind `taken` bytes that are on their way into the current segment. */
  fitsHere(batch: WaitingBatch, taken: number): boolean {
    return this.#hasSpaceHere(taken + batch.bytes, batch.forCleaner);
  }

  get isFull(): boolean {
    return this.spares.state === 'full';
  }

  fitsMark(): boolean {
    return this.#hasSpaceHere(batchBytes(0), false);
  }

  /** What the current segment must begin with, once. */
  takeOpening(): Opening {
    const opening = this.#opening;
    this.#opening = NOTHING;
    return opening;
  }

  /**
   * Begins the segment that takes the batch. False: not now, the disk is full; for a batch larger than a segment also where spares are left.
   */
  async begin(batch: WaitingBatch, firstRecord: number): Promise<boolean> {
    const opening = this.#makeOpening();
    let spare: Spare | undefined;
    try {
      spare = await this.#spareFor(HEADER_BYTES + spaceOf(opening.bytes) + batch.bytes);
      const cleanerOnly = batch.forCleaner && this.spares.count === 0;
      await this.chain.begin(spare, firstRecord, cleanerOnly);
    } catch (error) {
      const cause = error instanceof NotBegunError ? error.cause : error;
      const isSpareStill = spare === undefined || error instanceof NotBegunError;
      if (!isSpareStill || !passes(cause)) throw cause;
      if (spare) this.spares.giveBack(spare);
      this.spares.nowFull(cause);
      this.#blocked.add(batch);
      return false;
    }
    this.#opening = opening;
    return true;
  }

  /** The boot's own first segment, begun before any batch waits. */
  async beginBoot(firstRecord: number): Promise<void> {
    const opening = this.#makeOpening();
    try {
      const spare = await this.#spareFor(HEADER_BYTES + spaceOf(opening.bytes));
      await this.chain.begin(spare, firstRecord, false);
    } catch (error) {
      const cause = error instanceof NotBegunError ? error.cause : error;
      if (!passes(cause)) throw cause;
      throw new OrchdError('storage_full', 'There is no space for a segment.', { cause });
    }
    this.#opening = opening;
  }

  /** There may be room now for what was blocked. */
  unblock(): void {
    this.#blocked.clear();
  }

  #hasSpaceHere(bytes: number, forCleaner: boolean): boolean {
    const { offset, fileBytes, cleanerOnly } = this.chain.current;
    if (cleanerOnly && !forCleaner && this.isFull) return false;
    return offset + spaceOf(this.#opening.bytes) + bytes <= fileBytes;
  }

  #isOversize(batch: WaitingBatch): boolean {
    return HEADER_BYTES + spaceOf(this.#openingBytes) + batch.bytes > this.spares.fileBytes;
  }

  #makeOpening(): Opening {
    const text = this.preamble();
    this.#openingBytes = Buffer.byteLength(text);
    return { text, bytes: this.#openingBytes };
  }

  /** A spare that is long enough, else a file made for the purpose. */
  async #spareFor(bytes: number): Promise<Spare> {
    const spare = bytes <= this.spares.fileBytes ? this.spares.take() : undefined;
    if (spare && spare.fileBytes >= bytes) return spare;
    if (spare) this.spares.giveBack(spare);
    return this.spares.prepare(Math.max(bytes, this.spares.fileBytes));
  }
}

function spaceOf(openingBytes: number): number {
  return openingBytes === 0 ? 0 : batchBytes(openingBytes);
}
