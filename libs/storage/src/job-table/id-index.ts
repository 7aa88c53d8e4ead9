import type { JobEntry } from './job-entry.js';

const CHUNK = 512;

interface Chunk {
  /** No id in it is below; those of the chunk before it are. */
  from: string;
  /** No id in it is above. */
  last: string;
  entries: Map<string, JobEntry>;
  /** The entries stand by id, ascending. */
  isSorted: boolean;
}

/**
 * All jobs by id, in chunks of at most 512 that follow each other. Ids that come in order (UUIDv7) are appended to the last one, and jobs that
 * came together are found together, in memory that is warm: one Map of a million would answer each lookup from somewhere else, and stop the
 * event loop for 100 ms to double its size. A page of a list starts anywhere without looking at what lies before it.
 */
export class IdIndex {
  readonly #chunks: Chunk[] = [];
  /** Where the last search ended. */
  #recent = 0;

  get(id: string): JobEntry | undefined {
    return this.#chunks[this.#chunkOf(id)]?.entries.get(id);
  }

  /** An entry whose id is not there. */
  add(entry: JobEntry): void {
    const { id } = entry;
    const at = this.#chunkOf(id);
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#chunks.push(newChunk('', [entry]));
    } else if (id > chunk.last && at === this.#chunks.length - 1 && chunk.entries.size === CHUNK) {
      this.#chunks.push(newChunk(id, [entry]));
    } else {
      chunk.entries.set(id, entry);
      if (id > chunk.last) chunk.last = id;
      else chunk.isSorted = false;
      if (chunk.entries.size > CHUNK) this.#split(at);
    }
  }

  remove({ id }: JobEntry): void {
    const at = this.#chunkOf(id);
    const chunk = this.#chunks[at];
    if (!chunk?.entries.delete(id) || chunk.entries.size > 0) return;
    this.#chunks.splice(at, 1);
    if (at === 0 && this.#chunks[0]) this.#chunks[0].from = '';
  }

  /** Visits entries with an id greater than `after` (all, for null), ascending, until `visit` returns false. It must not add or remove any. */
  walk(after: string | null, visit: (entry: JobEntry) => boolean): void {
    const begin = after === null ? 0 : this.#chunkOf(after);
    for (let at = Math.max(0, begin); at < this.#chunks.length; at++) {
      for (const entry of sorted(this.#chunks[at]!)) {
        const isBehind = after === null || at > begin || entry.id > after;
        if (isBehind && !visit(entry)) return;
      }
    }
  }

  /** The last chunk that does not begin above `id`; -1 if there is none. */
  #chunkOf(id: string): number {
    const chunks = this.#chunks;
    const end = chunks.length - 1;
    if (end <= 0 || chunks[end]!.from <= id) return end;
    const recent = this.#recent;
    if (recent < end && chunks[recent]!.from <= id && id < chunks[recent + 1]!.from) return recent;
    let low = 0;
    let high = end;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (chunks[middle]!.from <= id) low = middle;
      else high = middle;
    }
    return (this.#recent = low);
  }

  #split(at: number): void {
    const entries = [...sorted(this.#chunks[at]!)];
    const upper = entries.splice(CHUNK / 2);
    this.#chunks.splice(at, 1, newChunk(this.#chunks[at]!.from, entries), newChunk(upper[0]!.id, upper));
  }
}

/** @param entries by id, ascending, one at least */
function newChunk(from: string, entries: readonly JobEntry[]): Chunk {
  return { from, last: entries.at(-1)!.id, entries: new Map(entries.map((entry) => [entry.id, entry])), isSorted: true };
}

function sorted(chunk: Chunk): Iterable<JobEntry> {
  if (!chunk.isSorted) {
    chunk.entries = new Map([...chunk.entries].sort(([a], [b]) => (a < b ? -1 : 1)));
    chunk.isSorted = true;
  }
  return chunk.entries.values();
}
