import path from 'node:path';
import type { Clock } from '../../../contract/clock.js';
import { OrchdError } from '../../../contract/errors.js';
import { passes } from './damage.js';
import { draftName, spareName } from './file-names.js';
import { writeAll, type FileSystem, type OpenFile } from './file-system.js';
import { HEADER_BYTES } from './segment-header.js';

/** One for what settles while the disk is full, one that only the cleaner may take. */
const SPARES_KEPT = 2;
const RETRY_MS = 1000;
/** Zeroes are synced in steps, so that the sync of a batch never has a whole segment's writes before it in the disk's queue. */
const STEP_BYTES = 2 ** 20;

/** A file of synced zeroes with no place in the log yet. Kept open: taking it must not need a free descriptor. */
export interface Spare {
  path: string;
  file: OpenFile;
  fileBytes: number;
}

export interface SpareEvents {
  /** A spare was added, or `full` ended. */
  onRoom(): void;
  onStateChange(state: 'open' | 'full', cause?: OrchdError): void;
  /** The disk failed in a way that space does not explain. */
  onFailure(error: unknown): void;
}

/** Prepares the next segments ahead of time; so it is here, not in the middle of a batch, that a full disk is met. */
export class SpareSegments {
  readonly #spares: Spare[] = [];
  #nextNumber = 1;
  #state: 'open' | 'full' = 'open';
  #filling: Promise<void> = Promise.resolve();
  #isFilling = false;
  #cancelRetry: (() => void) | undefined;
  #stopped = false;

  constructor(
    private readonly fs: FileSystem,
    private readonly dir: string,
    /** Length of an ordinary segment's file. */
    readonly fileBytes: number,
    private readonly clock: Clock,
    private readonly events: SpareEvents,
  ) {}

  get state(): 'open' | 'full' {
    return this.#state;
  }

  get count(): number {
    return this.#spares.length;
  }

  /** Some are missing, and none is on its way or tried again by itself. */
  get areMissing(): boolean {
    return this.#spares.length < SPARES_KEPT && !this.#isFilling && this.#state === 'open';
  }

  get bytes(): number {
    return this.#spares.reduce((sum, spare) => sum + spare.fileBytes, 0);
  }

  /**
   * Takes over what a dead boot left. A spare with a header is not one any more: it was about to become a segment, or has become it
   * and its old name outlived a kill; writing into it could overwrite that segment.
   */
  async adopt(numbers: number[]): Promise<void> {
    for (const number of numbers) {
      this.#nextNumber = number + 1;
      const spare = path.join(this.dir, spareName(number));
      const file = await this.fs.open(spare, 'write');
      const fileBytes = await file.size();
      const head = Buffer.alloc(HEADER_BYTES);
      await file.read(head, 0);
      if (fileBytes > HEADER_BYTES && head.every((byte) => byte === 0)) {
        this.#spares.push({ path: spare, file, fileBytes });
      } else {
        await file.close();
        await this.fs.unlink(spare);
      }
    }
  }

  /** On a full disk the cleaner may take the last one; everybody else, and it too while there is hope, leaves one. */
  has(forCleaner: boolean): boolean {
    return this.#spares.length > (forCleaner && this.#state === 'full' ? 0 : 1);
  }

  take(): Spare | undefined {
    return this.#spares.shift();
  }

  giveBack(spare: Spare): void {
    this.#spares.unshift(spare);
  }

  /** A file for a batch that no ordinary segment can hold. Rejects with the system's error. */
  async prepare(fileBytes: number): Promise<Spare> {
    const sparePath = path.join(this.dir, spareName(this.#nextNumber++));
    const draft = draftName(sparePath);
    const file = await this.fs.open(draft, 'create');
    try {
      await writeZeroes(file, fileBytes);
      await this.fs.rename(draft, sparePath);
      return { path: sparePath, file, fileBytes };
    } catch (error) {
      await file.close();
      // Gives the space back at once; where even that fails, the next opening deletes the draft.
      await this.fs.unlink(draft).catch(() => undefined);
      throw error;
    }
  }

  /** Resolves when all spares are there, or cannot be now: `full`, tried again every second until it works. Never two at once. */
  fill(): Promise<void> {
    if (!this.#isFilling) this.#filling = this.#fill();
    return this.#filling;
  }

  /** No spare could be prepared. */
  nowFull(cause: unknown): void {
    if (this.#stopped) return;
    this.#cancelRetry?.();
    this.#cancelRetry = this.clock.setTimer(RETRY_MS, () => void this.fill());
    if (this.#state === 'full') return;
    this.#state = 'full';
    const message = `The next segment cannot be prepared: ${cause instanceof Error ? cause.message : String(cause)}`;
    this.events.onStateChange('full', new OrchdError('storage_full', message, { cause }));
  }

  /** No spare is begun any more, and nothing is told. */
  halt(): void {
    this.#stopped = true;
    this.#cancelRetry?.();
  }

  /** The spares stay in the folder for the next boot. */
  async close(): Promise<void> {
    this.halt();
    await this.#filling;
    for (const spare of this.#spares.splice(0)) await spare.file.close();
  }

  async #fill(): Promise<void> {
    this.#isFilling = true;
    try {
      while (this.#spares.length < SPARES_KEPT && !this.#stopped) {
        this.#spares.push(await this.prepare(this.fileBytes));
        this.events.onRoom();
      }
      this.#nowOpen();
    } catch (error) {
      if (passes(error)) this.nowFull(error);
      else if (!this.#stopped) this.events.onFailure(error);
    } finally {
      // In the same turn as the last look at the spares: one that is taken from here on is replaced by the next call.
      this.#isFilling = false;
    }
  }

  #nowOpen(): void {
    this.#cancelRetry?.();
    if (this.#state === 'open' || this.#stopped) return;
    this.#state = 'open';
    this.events.onStateChange('open');
    this.events.onRoom();
  }
}

async function writeZeroes(file: OpenFile, bytes: number): Promise<void> {
  const zeroes = Buffer.alloc(Math.min(bytes, STEP_BYTES));
  for (let at = 0; at < bytes; at += zeroes.length) {
    await writeAll(file, zeroes.subarray(0, Math.min(zeroes.length, bytes - at)), at);
    await file.sync();
  }
}
