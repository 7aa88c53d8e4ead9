import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { BatchCodec } from './batch-codec.js';
import { segmentName } from './file-names.js';
import { writeAll, type FileSystem, type OpenFile, type OpenFolder } from './file-system.js';
import { encodeHeader, HEADER_BYTES, SALT_BYTES } from './segment-header.js';
import type { Spare } from './spare-segments.js';

/** The segment that is written now. */
export interface CurrentSegment {
  segment: number;
  file: OpenFile;
  fileBytes: number;
  codec: BatchCodec;
  /** Where the next batch goes. */
  offset: number;
  /** Taken from the cleaner's reserve: until the disk has room again only the cleaner may write here. */
  cleanerOnly: boolean;
}

/** The segments of the folder, oldest first: how one becomes part of the log, and how it leaves it. */
export class SegmentChain {
  /** Ended ones, ascending, with the bytes they use. */
  readonly #ended = new Map<number, number>();
  #endedBytes = 0;
  #current: CurrentSegment | undefined;
  #last: number;

  constructor(
    private readonly fs: FileSystem,
    private readonly dir: string,
    private readonly folder: OpenFolder,
    private readonly boot: { boot: number; epochFloor: number },
    ended: { segment: number; usedBytes: number }[],
    private readonly newSalt: () => Buffer = () => randomBytes(SALT_BYTES),
  ) {
    for (const { segment, usedBytes } of ended) this.#addEnded(segment, usedBytes);
    this.#last = ended.at(-1)?.segment ?? 0;
  }

  get current(): CurrentSegment {
    if (!this.#current) throw new Error('No segment has been begun.');
    return this.#current;
  }

  get oldest(): number {
    return this.#ended.keys().next().value ?? this.#last;
  }

  get count(): number {
    return this.#ended.size + (this.#current ? 1 : 0);
  }

  /** Bytes in use, the unwritten rest of the current segment not counted. */
  get usedBytes(): number {
    return this.#endedBytes + (this.#current?.offset ?? 0);
  }

  /**
   * Makes the spare the next segment; the caller has synced all before it. When it resolves, header and name are on disk. Rejects with
   * NotBegunError while the spare is a spare still.
   */
  async begin(spare: Spare, firstRecord: number, cleanerOnly: boolean): Promise<void> {
    const segment = this.#last + 1;
    const salt = this.newSalt();
    const before = this.#current;
    try {
      await writeAll(spare.file, encodeHeader({ segment, firstRecord, salt, ...this.boot }), 0);
      await spare.file.sync();
      // link, not rename: it fails where another process has made this segment already.
      await this.fs.link(spare.path, this.#path(segment));
    } catch (error) {
      throw new NotBegunError(error);
    }
    await this.fs.unlink(spare.path);
    await this.folder.sync();
    const { file, fileBytes } = spare;
    this.#current = { segment, file, fileBytes, codec: new BatchCodec(salt), offset: HEADER_BYTES, cleanerOnly };
    this.#last = segment;
    if (before) await this.#end(before);
  }

  /** The name is gone for good once it resolves. */
  async unlink(segment: number): Promise<void> {
    await this.fs.unlink(this.#path(segment));
    await this.folder.sync();
    this.#endedBytes -= this.#ended.get(segment) ?? 0;
    this.#ended.delete(segment);
  }

  async close(): Promise<void> {
    await this.#current?.file.close();
  }

  /** Gives back the zeroes behind the last batch. Not needed for the log to be right, so a failure may stay unheard. */
  async #end({ segment, file, offset }: CurrentSegment): Promise<void> {
    this.#addEnded(segment, offset);
    await file.truncate(offset).catch(() => undefined);
    await file.close();
  }

  #addEnded(segment: number, usedBytes: number): void {
    this.#ended.set(segment, usedBytes);
    this.#endedBytes += usedBytes;
  }

  #path(segment: number): string {
    return path.join(this.dir, segmentName(segment));
  }
}

/** The spare did not become a segment and can be used again; `cause` is the system's error. */
export class NotBegunError extends Error {
  constructor(override readonly cause: unknown) {
    super('The segment was not begun.');
  }
}
