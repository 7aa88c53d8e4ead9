import { DEFAULT_BACKOFF } from '../contract/index.js';
import { DueHeap } from './due-heap.js';
import { Fifo } from './fifo.js';
import { IdIndex } from './id-index.js';
import { JobEntry, type DueItem } from './job-entry.js';
import { ReadyLanes } from './ready-lanes.js';
import { seededRandom } from './seeded-random.fixture.js';

const ROUNDS = 6000;

function entry(id: string, priority = 5): JobEntry {
  return new JobEntry(id, 'default', 'noop', '', priority, 5, 10, 0, DEFAULT_BACKOFF, 0, 0, null);
}

describe('Fifo', () => {
  it('gives back what came first, however it grows and shrinks', () => {
    const random = seededRandom(1);
    const fifo = new Fifo<number>();
    const naive: number[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      const growing = i % 2000 < 1000;
      if (random() < (growing ? 0.8 : 0.2)) {
        fifo.push(i);
        naive.push(i);
      } else {
        expect(fifo.shift()).toBe(naive.shift());
      }
      expect(fifo.length).toBe(naive.length);
      expect(fifo.peek()).toBe(naive[0]);
    }
  });
});

describe('DueHeap', () => {
  it('gives the earliest, ties in order of arrival, also after removals from the middle', () => {
    const random = seededRandom(2);
    const heap = new DueHeap();
    const naive = new Set<DueItem>();
    const earliest = () => [...naive].reduce((a, b) => (b.key < a.key || (b.key === a.key && b.seq < a.seq) ? b : a));
    for (let seq = 0; seq < 3000; seq++) {
      if (random() < 0.6 || naive.size === 0) {
        const item: DueItem = { entry: entry(`j${seq}`), key: Math.floor(random() * 50), seq, delayMs: 0, instant: false, index: 0 };
        heap.push(item);
        naive.add(item);
      } else {
        const victim = random() < 0.5 ? heap.peek()! : [...naive][Math.floor(random() * naive.size)]!;
        heap.remove(victim);
        naive.delete(victim);
      }
      expect(heap.peek()).toBe(naive.size === 0 ? undefined : earliest());
    }
  });
});

describe('IdIndex', () => {
  it('finds by id, and walks by id from anywhere, whatever order ids came and went in', () => {
    const random = seededRandom(3);
    const index = new IdIndex();
    const naive = new Map<string, JobEntry>();
    const someId = () => `j${Math.floor(random() * 5000)}`;
    for (let i = 0; i < ROUNDS; i++) {
      const id = someId();
      const known = naive.get(id);
      expect(index.get(id)).toBe(known);
      if (known === undefined) {
        const made = entry(id);
        naive.set(id, made);
        index.add(made);
      } else {
        naive.delete(id);
        index.remove(known);
      }
      if (i % 500 !== 0) continue;
      const after = random() < 0.2 ? null : someId();
      const seen: string[] = [];
      index.walk(after, (each) => seen.push(each.id) < 100);
      const sorted = [...naive.keys()].sort().filter((each) => after === null || each > after);
      expect(seen).toEqual(sorted.slice(0, 100));
    }
  });
});

describe('ReadyLanes', () => {
  it('passes over the cancelled, and forgets them once they outnumber the living', () => {
    const lanes = new ReadyLanes();
    const entries = Array.from({ length: 1000 }, (_, i) => entry(`j${i}`, i % 10));
    for (const each of entries) lanes.push(each);
    for (const each of entries.slice(0, 900)) {
      each.state = 'cancelled';
      lanes.leave();
    }
    expect(lanes.length).toBe(100);
    const order = Array.from({ length: 100 }, () => lanes.shift()!.id);
    const expected = entries.slice(900).sort((a, b) => b.priority - a.priority);
    expect(order).toEqual(expected.map((each) => each.id));
    expect(lanes.shift()).toBeUndefined();
  });
});
