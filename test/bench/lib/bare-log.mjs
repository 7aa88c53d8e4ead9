import fs from 'node:fs';
import { crc32 } from 'node:zlib';

const HEADER_BYTES = 8;
const BUFFER_BYTES = 4 * 2 ** 20;

/**
 * What a log with group commit can at best be: records of JSON, a length and a CRC before each batch, one write and one fdatasync at a time,
 * one promise for each batch, in a file whose space is written beforehand. No segments, no replay, no limits, no jobs. At the end of the
 * file it begins again at its start.
 */
export class BareLog {
  #descriptor;
  #fileBytes;
  #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #position = 0;
  #text = '';
  #waiting = null;
  #busy = false;

  constructor(file, fileBytes = 64 * 2 ** 20) {
    this.#descriptor = fs.openSync(file, 'w');
    this.#fileBytes = fileBytes;
    const zeroes = Buffer.alloc(2 ** 20);
    for (let at = 0; at < fileBytes; at += zeroes.length) fs.writeSync(this.#descriptor, zeroes, 0, zeroes.length, at);
    fs.fsyncSync(this.#descriptor);
  }

  /** Resolves when the record is on the disk. */
  append(record) {
    this.#text += record;
    if (this.#waiting === null) {
      this.#waiting = deferred();
      if (!this.#busy) setImmediate(this.#flush);
      this.#busy = true;
    }
    return this.#waiting.promise;
  }

  close() {
    fs.closeSync(this.#descriptor);
  }

  #flush = () => {
    const { resolve, reject } = this.#waiting;
    const length = HEADER_BYTES + this.#buffer.write(this.#text, HEADER_BYTES);
    this.#waiting = null;
    this.#text = '';
    this.#buffer.writeUInt32LE(length, 0);
    this.#buffer.writeUInt32LE(crc32(this.#buffer.subarray(HEADER_BYTES, length)), 4);
    if (this.#position + length > this.#fileBytes) this.#position = 0;
    fs.write(this.#descriptor, this.#buffer, 0, length, this.#position, (error, written) => {
      if (error || written !== length) return reject(error ?? new Error('short write'));
      this.#position += length;
      fs.fdatasync(this.#descriptor, (failure) => {
        if (failure) return reject(failure);
        resolve();
        // Whoever waited appends again before this turn ends, so that the next batch holds all of them.
        setImmediate(() => {
          if (this.#waiting === null) this.#busy = false;
          else this.#flush();
        });
      });
    });
  };
}

function deferred() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}
