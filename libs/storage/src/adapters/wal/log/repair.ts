import path from 'node:path';
import { passes, unavailable } from './damage.js';
import { brokenName, draftName, segmentName, type FolderContents } from './file-names.js';
import { writeAll, type FileSystem, type OpenFile, type OpenFolder } from './file-system.js';
import type { TornTail, Verdict } from './recovery.js';

/** Torn tails that stay in the folder for whoever wants to look at them. */
const BROKEN_KEPT = 3;

export type Warn = (message: string, details: object) => void;

/**
 * Carries a verdict out. When it resolves the folder holds whole segments only, all they hold is on disk, and so are their names.
 * Interrupted at any place, the next opening comes to the same verdict and begins again.
 */
export class Repair {
  constructor(
    private readonly fs: FileSystem,
    private readonly dir: string,
    private readonly folder: OpenFolder,
    private readonly warn: Warn,
  ) {}

  async run(verdict: Verdict, contents: FolderContents): Promise<void> {
    try {
      for (const name of contents.drafts) await this.fs.unlink(this.#path(name));
      if (verdict.torn) await this.#saveTail(verdict.torn, contents.broken);
      await this.#trim(verdict);
      if (verdict.unproven) await this.#rewrite(verdict.unproven);
      if (verdict.cutShort !== undefined) await this.fs.unlink(this.#path(segmentName(verdict.cutShort)));
      await this.folder.sync();
    } catch (error) {
      throw unavailable('Cannot repair the log', error);
    }
  }

  async #saveTail(torn: TornTail, kept: string[]): Promise<void> {
    const saved = brokenName(torn.segment, torn.offset);
    const { offset, validBatchesDropped } = torn;
    const details = { file: segmentName(torn.segment), offset, bytes: torn.bytes.length, validBatchesDropped };
    try {
      await this.#writeWhole(saved, torn.bytes);
    } catch (error) {
      if (!passes(error)) throw error;
      // The tail was never promised to anybody: a full disk must not keep the log from opening.
      this.warn('The log ended in a torn write; its tail was cut off, and could not be saved.', { ...details, cause: String(error) });
      return;
    }
    this.warn('The log ended in a torn write; its tail was cut off and saved.', { ...details, saved });
    const names = [...new Set([...kept, saved])].sort();
    for (const name of names.slice(0, -BROKEN_KEPT)) await this.fs.unlink(this.#path(name));
  }

  async #writeWhole(name: string, bytes: Buffer): Promise<void> {
    const draft = this.#path(draftName(name));
    const file = await this.fs.open(draft, 'create');
    try {
      await writeAll(file, bytes, 0);
      await file.sync();
    } catch (error) {
      await this.fs.unlink(draft);
      throw error;
    } finally {
      await file.close();
    }
    await this.fs.rename(draft, this.#path(name));
  }

  /** Segments of ended boots give back what they did not use; a torn one is cut where it is still whole. */
  async #trim(verdict: Verdict): Promise<void> {
    for (const { segment, usedBytes, fileBytes } of verdict.segments) {
      if (fileBytes <= usedBytes) continue;
      await this.#withSegment(segment, (file) => file.truncate(usedBytes));
    }
  }

  async #rewrite({ segment, offset, bytes }: { segment: number; offset: number; bytes: Buffer }): Promise<void> {
    await this.#withSegment(segment, (file) => writeAll(file, bytes, offset));
  }

  async #withSegment(segment: number, change: (file: OpenFile) => Promise<void>): Promise<void> {
    const file = await this.fs.open(this.#path(segmentName(segment)), 'write');
    try {
      await change(file);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  #path(name: string): string {
    return path.join(this.dir, name);
  }
}
