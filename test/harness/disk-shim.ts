import { existsSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { compileShim } from './compile-shim.js';

/** A disk that does what it is told, between one service after the other and its folder. See `disk-shim.c`. */
export class DiskShim {
  readonly #library: string;
  readonly #control: string;
  #writeDelayUs = 0;
  #syncDelayMs = 0;
  #errno = 0;
  #ticket = 0;
  #journal: string | null = null;
  #journals = 0;

  /** @param folder for the compiled shim and what it writes; not the data folder */
  constructor(private readonly folder: string) {
    this.#library = compileShim('disk-shim', folder);
    this.#control = join(folder, 'control');
    this.#tell();
  }

  /** The environment of a service whose data folder lies behind the shim. With a journal, `lostByPowerCut` can be asked afterwards. */
  env(dataDir: string, { journal = false } = {}): NodeJS.ProcessEnv {
    this.#journal = journal ? join(this.folder, `journal-${++this.#journals}`) : null;
    return {
      LD_PRELOAD: this.#library,
      // Calls through io_uring would pass the shim by.
      UV_USE_IO_URING: '0',
      ORCHD_SHIM_DIR: realpathSync(dataDir),
      ORCHD_SHIM_CONTROL: this.#control,
      ...(this.#journal !== null && { ORCHD_SHIM_JOURNAL: this.#journal }),
    };
  }

  /** How long every write and every sync of a segment takes from now on, beside what the real disk needs. */
  slow({ writeUs = 0, syncMs = 0 }: { writeUs?: number; syncMs?: number }): void {
    this.#writeDelayUs = writeUs;
    this.#syncDelayMs = syncMs;
    this.#tell();
  }

  /** The next sync of a segment fails with EIO, those after it succeed again: the kernel has forgotten what it could not write. */
  failOneSync(): void {
    this.#errno = constants.errno.EIO;
    this.#ticket++;
    this.#tell();
  }

  /** What the last journal says; nothing, when its service never came to its folder. */
  journal(): Buffer {
    if (this.#journal === null) throw new Error('there is no journal');
    return existsSync(this.#journal) ? readFileSync(this.#journal) : Buffer.alloc(0);
  }

  #tell(): void {
    const draft = `${this.#control}.new`;
    writeFileSync(draft, `${this.#writeDelayUs} ${this.#syncDelayMs} ${this.#errno} ${this.#ticket}\n`);
    renameSync(draft, this.#control);
  }
}
