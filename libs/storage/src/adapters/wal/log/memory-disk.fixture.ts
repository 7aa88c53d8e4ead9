/** One file: its bytes in the page cache, and on the disk. */
export class Inode {
  cache: Buffer = Buffer.alloc(0);
  disk: Buffer = Buffer.alloc(0);
  locked = false;

  clone(): Inode {
    const clone = new Inode();
    clone.cache = Buffer.from(this.cache);
    clone.disk = Buffer.from(this.disk);
    clone.locked = this.locked;
    return clone;
  }
}

/** What has been done but not synced: a power cut may lose it, in whole or in part. */
export type Pending =
  | { kind: 'bytes'; inode: Inode; position: number; bytes: Buffer }
  | { kind: 'length'; inode: Inode; length: number }
  | { kind: 'name'; path: string; inode: Inode | undefined };

export interface PowerCut {
  /** So many of the bytes not synced reach the disk all the same, in the order in which they were written. */
  bytes?: number;
  /** Names made and removed reach the disk although the folder was not synced. */
  names?: boolean;
  /** 0..1: decides for each sector, length and name alone whether it reaches the disk. */
  random?: () => number;
}

const SECTOR = 512;

/** Page cache and disk of a machine. Names are whole paths; `MemoryFileSystem` is a process's view of it. */
export class MemoryDisk {
  /** As processes see it. */
  readonly names = new Map<string, Inode>();
  readonly folders = new Set<string>();
  capacityBytes = Infinity;
  /** Rises when the machine stops or its processes are killed: views from before are dead. */
  life = 0;
  #synced = new Map<string, Inode>();
  #pending: Pending[] = [];

  get usedBytes(): number {
    return [...new Set(this.names.values())].reduce((sum, { cache }) => sum + cache.length, 0);
  }

  get unsyncedBytes(): number {
    return this.#pending.reduce((sum, pending) => sum + (pending.kind === 'bytes' ? pending.bytes.length : 0), 0);
  }

  /** Returns the bytes that found space. */
  write(inode: Inode, bytes: Buffer, position: number): number {
    const growth = Math.max(0, position + bytes.length - inode.cache.length);
    const missing = Math.max(0, growth - Math.max(0, this.capacityBytes - this.usedBytes));
    const written = Buffer.from(bytes.subarray(0, bytes.length - missing));
    inode.cache = withBytes(inode.cache, written, position);
    this.#pending.push({ kind: 'bytes', inode, position, bytes: written });
    return written.length;
  }

  truncate(inode: Inode, length: number): void {
    inode.cache = withLength(inode.cache, length);
    this.#pending.push({ kind: 'length', inode, length });
  }

  setName(path: string, inode: Inode | undefined): void {
    if (inode) this.names.set(path, inode);
    else this.names.delete(path);
    this.#pending.push({ kind: 'name', path, inode });
  }

  /** What a sync that begins now will have on the disk when it ends: nothing that is written meanwhile. */
  beginSync(inode: Inode): readonly Pending[] {
    return this.#pending.filter((pending) => pending.kind !== 'name' && pending.inode === inode);
  }

  /** The same for a write that is synced by itself: only what lies where it wrote. */
  beginSyncOf(inode: Inode, position: number, length: number): readonly Pending[] {
    return this.#pending.filter(
      (pending) =>
        pending.kind === 'bytes' &&
        pending.inode === inode &&
        pending.position < position + length &&
        pending.position + pending.bytes.length > position,
    );
  }

  endSync(covered: readonly Pending[]): void {
    for (const pending of covered) this.#settle(pending);
    this.forgetSync(covered);
  }

  /** As Linux does it when a sync fails: what could not be written counts as written; it stays in the cache and never reaches the disk. */
  forgetSync(covered: readonly Pending[]): void {
    this.#pending = this.#pending.filter((pending) => !covered.includes(pending));
  }

  syncFolder(folder: string): void {
    this.endSync(this.#pending.filter((pending) => pending.kind === 'name' && folderOf(pending.path) === folder));
  }

  /** A file that has always been there. */
  plant(path: string, content: Buffer): void {
    const inode = new Inode();
    inode.cache = Buffer.from(content);
    inode.disk = Buffer.from(content);
    this.names.set(path, inode);
    this.#synced.set(path, inode);
  }

  /** A file that has never been there. */
  forget(path: string): void {
    this.names.delete(path);
    this.#synced.delete(path);
  }

  /** The same disk once more, to try what another end would have left. */
  clone(): MemoryDisk {
    const clone = new MemoryDisk();
    const inodes = new Map<Inode, Inode>();
    const twin = (inode: Inode) => {
      const known = inodes.get(inode) ?? inode.clone();
      inodes.set(inode, known);
      return known;
    };
    for (const folder of this.folders) clone.folders.add(folder);
    for (const [path, inode] of this.names) clone.names.set(path, twin(inode));
    for (const [path, inode] of this.#synced) clone.#synced.set(path, twin(inode));
    clone.#pending = this.#pending.map((pending) => ({ ...pending, inode: pending.inode && twin(pending.inode) }) as Pending);
    clone.capacityBytes = this.capacityBytes;
    return clone;
  }

  /** kill -9: the page cache lives on. */
  kill(): void {
    this.life++;
    for (const inode of this.names.values()) inode.locked = false;
  }

  /** Everything that was not synced is lost, but for what `survives`. */
  cutPower(survives: PowerCut = {}): void {
    let bytesLeft = survives.bytes ?? 0;
    for (const pending of this.#pending.splice(0)) {
      if (survives.random) this.#settleAtRandom(pending, survives.random);
      else if (pending.kind === 'name' && survives.names) this.#settle(pending);
      else if (pending.kind === 'bytes' && bytesLeft > 0) {
        this.#settle({ ...pending, bytes: pending.bytes.subarray(0, bytesLeft) });
        bytesLeft -= pending.bytes.length;
      }
    }
    this.names.clear();
    for (const [path, inode] of this.#synced) {
      this.names.set(path, inode);
      inode.cache = Buffer.from(inode.disk);
    }
    this.kill();
  }

  #settleAtRandom(pending: Pending, random: () => number): void {
    if (pending.kind !== 'bytes') {
      if (random() < 0.5) this.#settle(pending);
      return;
    }
    for (let at = 0; at < pending.bytes.length;) {
      const sectorEnd = Math.min(pending.bytes.length, at + SECTOR - ((pending.position + at) % SECTOR));
      const bytes = pending.bytes.subarray(at, sectorEnd);
      if (random() < 0.5) this.#settle({ ...pending, bytes, position: pending.position + at });
      at = sectorEnd;
    }
  }

  #settle(pending: Pending): void {
    if (pending.kind === 'bytes') pending.inode.disk = withBytes(pending.inode.disk, pending.bytes, pending.position);
    else if (pending.kind === 'length') pending.inode.disk = withLength(pending.inode.disk, pending.length);
    else if (pending.inode) this.#synced.set(pending.path, pending.inode);
    else this.#synced.delete(pending.path);
  }
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function withBytes(content: Buffer, bytes: Buffer, position: number): Buffer {
  const changed = position + bytes.length > content.length ? withLength(content, position + bytes.length) : content;
  bytes.copy(changed, position);
  return changed;
}

function withLength(content: Buffer, length: number): Buffer {
  const changed = Buffer.alloc(length);
  content.copy(changed);
  return changed;
}
