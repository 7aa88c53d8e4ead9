import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const BLOCK = Buffer.alloc(4096, 1);

/** A file system of its own, of a few MiB, mounted at a folder. Needs root. */
export class SmallDisk {
  readonly #ballast: string;

  constructor(
    readonly folder: string,
    mib: number,
  ) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m,mode=0700`, 'tmpfs', folder]);
    this.#ballast = join(folder, 'ballast');
  }

  /** Somebody else's file takes all the space there is, or so many bytes of it. */
  fill(bytes = Infinity): void {
    const file = openSync(this.#ballast, 'a');
    try {
      for (let written = 0; written < bytes;) written += writeSync(file, BLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  /** The file is gone, and with it the lack of space. */
  free(): void {
    rmSync(this.#ballast, { force: true });
  }

  /** Also while a process still has files open on it; then it lasts until that has ended. */
  unmount(): void {
    execFileSync('umount', ['--lazy', this.folder]);
  }
}
