import type { DueItem } from './job-entry.js';

/** Binary heap, earliest first; an item knows its index, so that a cancelled job leaves at once however far away its due time is. */
export class DueHeap {
  readonly #items: DueItem[] = [];

  peek(): DueItem | undefined {
    return this.#items[0];
  }

  push(item: DueItem): void {
    item.index = this.#items.length;
    this.#items.push(item);
    this.#up(item);
  }

  remove(item: DueItem): void {
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    last.index = item.index;
    this.#items[last.index] = last;
    this.#up(last);
    this.#down(last);
  }

  #up(item: DueItem): void {
    const items = this.#items;
    let index = item.index;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = items[parentIndex]!;
      if (!before(item, parent)) break;
      items[index] = parent;
      parent.index = index;
      index = parentIndex;
    }
    items[index] = item;
    item.index = index;
  }

  #down(item: DueItem): void {
    const items = this.#items;
    let index = item.index;
    for (;;) {
      let childIndex = 2 * index + 1;
      let child = items[childIndex];
      if (child === undefined) break;
      const right = items[childIndex + 1];
      if (right !== undefined && before(right, child)) {
        child = right;
        childIndex++;
      }
      if (!before(child, item)) break;
      items[index] = child;
      child.index = index;
      index = childIndex;
    }
    items[index] = item;
    item.index = index;
  }
}

function before(a: DueItem, b: DueItem): boolean {
  return a.key < b.key || (a.key === b.key && a.seq < b.seq);
}
