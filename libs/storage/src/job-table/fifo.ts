/** A queue on a ring that grows by doubling: push and shift cost the same however long it is. */
export class Fifo<T> {
  #ring: (T | undefined)[] = new Array<T | undefined>(8);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: T): void {
    if (this.#length === this.#ring.length) this.#resize(this.#length * 2);
    this.#ring[(this.#head + this.#length) & (this.#ring.length - 1)] = item;
    this.#length++;
  }

  peek(): T | undefined {
    return this.#length === 0 ? undefined : this.#ring[this.#head];
  }

  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#ring[this.#head];
    this.#ring[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#ring.length - 1);
    this.#length--;
    if (this.#ring.length > 1024 && this.#length * 4 < this.#ring.length) this.#resize(this.#ring.length / 2);
    return item;
  }

  /** Drops what `keep` refuses, in order. */
  retain(keep: (item: T) => boolean): void {
    for (let rest = this.#length; rest > 0; rest--) {
      const item = this.shift() as T;
      if (keep(item)) this.push(item);
    }
  }

  #resize(capacity: number): void {
    const ring = new Array<T | undefined>(capacity);
    for (let i = 0; i < this.#length; i++) ring[i] = this.#ring[(this.#head + i) & (this.#ring.length - 1)];
    this.#ring = ring;
    this.#head = 0;
  }
}
