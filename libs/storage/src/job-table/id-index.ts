import type { JobEntry } from './job-entry.js';

const CHUNK = 512;

/**
 * All jobs by id, ascending, in chunks of at most 512: ids that come in order (UUIDv7) are appended, others cost one binary search and one
 * short splice, and a page of a list starts anywhere without looking at what lies before it.
 */
export class IdIndex {
  readonly #chunks: JobEntry[][] = [];

  add(entry: JobEntry): void {
    const last = this.#chunks[this.#chunks.length - 1];
    if (last === undefined) {
      this.#chunks.push([entry]);
    } else if (last[last.length - 1]!.id < entry.id) {
      if (last.length < CHUNK) last.push(entry);
      else this.#chunks.push([entry]);
    } else {
      const at = this.#chunkOf(entry.id);
      const chunk = this.#chunks[at]!;
      chunk.splice(lowerBound(chunk, entry.id), 0, entry);
      if (chunk.length > CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(CHUNK / 2));
    }
  }

  remove(entry: JobEntry): void {
    const at = this.#chunkOf(entry.id);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return;
    const index = lowerBound(chunk, entry.id);
    if (chunk[index] !== entry) return;
    chunk.splice(index, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
  }

  /** Visits entries with an id greater than `after` (all, for null), ascending, until `visit` returns false. */
  walk(after: string | null, visit: (entry: JobEntry) => boolean): void {
    let at = after === null ? 0 : this.#chunkOf(after);
    let index = after === null ? 0 : lowerBound(this.#chunks[at] ?? [], after);
    for (; at < this.#chunks.length; at++, index = 0) {
      const chunk = this.#chunks[at]!;
      for (; index < chunk.length; index++) {
        const entry = chunk[index]!;
        if (entry.id !== after && !visit(entry)) return;
      }
    }
  }

  /** The first chunk whose last id is not below `id`; the number of chunks if there is none. */
  #chunkOf(id: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const chunk = this.#chunks[middle]!;
      if (chunk[chunk.length - 1]!.id < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function lowerBound(chunk: readonly JobEntry[], id: string): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (chunk[middle]!.id < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
