import type { Duplex } from 'node:stream';

/** Descriptor of the pipe in a handler process. */
export const PIPE_FD = 3;
const LINE_FEED = 10;
/** No message of ours is longer: a text of 16 Mi characters, each escaped, and what stands around it. */
const MAX_BYTES = 128 * 2 ** 20;

/** The pipe between the pool and a handler process, on both sides: one JSON value per line. */
export class JsonLines {
  #parts: Buffer[] = [];
  #bytes = 0;
  #receive: (value: unknown) => void = () => undefined;

  constructor(private readonly pipe: Duplex) {
    pipe.on('data', (chunk: Buffer) => this.#take(chunk));
    // The other side is gone, as its exit, or the end of the pipe, says too.
    pipe.on('error', () => undefined);
  }

  /** Every value is given to `receive`; a line that is no JSON, or longer than any message, is left out. */
  listen(receive: (value: unknown) => void): void {
    this.#receive = receive;
  }

  /**
   * Written at once, as far as the pipe has room, not when the event loop comes round. It begins with a line feed as well: what somebody else
   * has left there without one must not swallow it.
   */
  send(value: unknown): void {
    this.pipe.write(`\n${JSON.stringify(value)}\n`);
  }

  #take(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      this.#add(chunk.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    this.#add(chunk.subarray(from));
  }

  #add(part: Buffer): void {
    if (part.length === 0) return;
    this.#bytes += part.length;
    if (this.#bytes > MAX_BYTES) this.#parts = [];
    else this.#parts.push(part);
  }

  #endLine(): void {
    const text = this.#bytes > MAX_BYTES ? '' : Buffer.concat(this.#parts).toString();
    this.#parts = [];
    this.#bytes = 0;
    if (text === '') return;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return;
    }
    this.#receive(value);
  }
}
