import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { compileShim } from './compile-shim.js';

/** A wall clock that can be set while a service runs. See `clock-shim.c`. */
export class ClockShim {
  readonly env: NodeJS.ProcessEnv;
  readonly #file: string;

  /** @param folder for the compiled shim and the time */
  constructor(folder: string) {
    this.#file = join(folder, 'clock');
    this.setAhead(0);
    this.env = { LD_PRELOAD: compileShim('clock-shim', folder), ORCHD_SHIM_CLOCK: this.#file };
  }

  /** From now on the service's wall clock is so many seconds ahead of the real one, or behind it. */
  setAhead(seconds: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(seconds));
    // In place, never shorter than it is: the service has the file mapped.
    const file = openSync(this.#file, constants.O_WRONLY | constants.O_CREAT);
    writeSync(file, bytes, 0, bytes.length, 0);
    closeSync(file);
  }
}
