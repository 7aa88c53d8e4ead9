import { Inode, type MemoryDisk, type Pending } from './memory-disk.fixture.js';
import type { FileSystem, OpenFile, OpenFolder } from './file-system.js';

export interface Call {
  method: string;
  path: string;
  /** 1 for the first call of all. */
  number: number;
  /** A call that does not return before it has ended. */
  blocking: boolean;
}

/** `short`: a write that stops half way, with no error. Anything else is the `code` of the error. */
export type Fault = (call: Call) => string | undefined;

/** A process's view of a MemoryDisk. Every call can be made to fail; syncs can be held back. */
export class MemoryFileSystem implements FileSystem {
  readonly calls: Call[] = [];
  fault: Fault = () => undefined;
  /** The sync of a file that has begun ends when this resolves, and fails when it rejects. */
  gate: (() => Promise<void>) | undefined;
  /** What `timeSync` measures. */
  syncMs = 1;
  readonly #life: number;

  constructor(readonly disk: MemoryDisk) {
    this.#life = disk.life;
  }

  async makeFolder(path: string): Promise<void> {
    await this.enter('makeFolder', path);
    this.disk.folders.add(path);
  }

  async openFolder(path: string): Promise<OpenFolder> {
    await this.enter('openFolder', path);
    return {
      sync: async () => {
        await this.enter('syncFolder', path);
        this.disk.syncFolder(path);
      },
      close: async () => undefined,
    };
  }

  async list(folder: string): Promise<string[]> {
    await this.enter('list', folder);
    return [...this.disk.names.keys()].filter((name) => name.startsWith(`${folder}/`)).map((name) => name.slice(folder.length + 1));
  }

  async open(path: string, mode: 'read' | 'write' | 'create'): Promise<OpenFile> {
    await this.enter('open', path);
    const inode = this.disk.names.get(path);
    if (mode === 'create') {
      if (inode) throw systemError('EEXIST', path);
      return new MemoryFile(this, path, this.#make(path));
    }
    if (!inode) throw systemError('ENOENT', path);
    return new MemoryFile(this, path, inode);
  }

  async openLocked(path: string): Promise<OpenFile | undefined> {
    await this.enter('openLocked', path);
    const inode = this.disk.names.get(path) ?? this.#make(path);
    if (inode.locked) return undefined;
    inode.locked = true;
    return new MemoryFile(this, path, inode, true);
  }

  async link(from: string, to: string): Promise<void> {
    await this.enter('link', to);
    if (this.disk.names.has(to)) throw systemError('EEXIST', to);
    this.disk.setName(to, this.#inode(from));
  }

  async rename(from: string, to: string): Promise<void> {
    await this.enter('rename', to);
    this.disk.setName(to, this.#inode(from));
    this.disk.setName(from, undefined);
  }

  async unlink(path: string): Promise<void> {
    await this.enter('unlink', path);
    this.#inode(path);
    this.disk.setName(path, undefined);
  }

  async freeBytes(folder: string): Promise<number> {
    await this.enter('freeBytes', folder);
    return Math.min(Number.MAX_SAFE_INTEGER, this.disk.capacityBytes - this.disk.usedBytes);
  }

  /** Returns `short` for a write that is to stop half way. */
  async enter(method: string, path: string): Promise<'short' | undefined> {
    const fault = this.#faultOf(method, path, false);
    await Promise.resolve();
    this.assertAlive(path);
    return this.#verdict(fault, method, path);
  }

  /** For a blocking call. */
  enterNow(method: string, path: string): 'short' | undefined {
    return this.#verdict(this.#faultOf(method, path, true), method, path);
  }

  #faultOf(method: string, path: string, blocking: boolean): string | undefined {
    this.assertAlive(path);
    const call = { method, path, number: this.calls.length + 1, blocking };
    this.calls.push(call);
    return this.fault(call);
  }

  #verdict(fault: string | undefined, method: string, path: string): 'short' | undefined {
    if (fault !== undefined && (fault !== 'short' || method !== 'write')) throw systemError(fault === 'short' ? 'EIO' : fault, path);
    return fault === 'short' ? 'short' : undefined;
  }

  /** A process that was killed, or whose machine lost its power, does nothing more. */
  assertAlive(path: string): void {
    if (this.disk.life !== this.#life) throw systemError('ESTALE', path);
  }

  #inode(path: string): Inode {
    const inode = this.disk.names.get(path);
    if (!inode) throw systemError('ENOENT', path);
    return inode;
  }

  #make(path: string): Inode {
    const inode = new Inode();
    this.disk.setName(path, inode);
    return inode;
  }
}

class MemoryFile implements OpenFile {
  #open = true;

  constructor(
    private readonly fs: MemoryFileSystem,
    private readonly path: string,
    private readonly inode: Inode,
    private readonly holdsLock = false,
  ) {}

  async read(into: Buffer, position: number): Promise<number> {
    await this.#enter('read');
    return this.inode.cache.copy(into, 0, position, position + into.length);
  }

  async write(from: Buffer, length: number, position: number): Promise<number> {
    return this.#write(await this.#enter('write'), from, length, position);
  }

  writeNow(from: Buffer, length: number, position: number): number {
    this.#assertOpen();
    return this.#write(this.fs.enterNow('write', this.path), from, length, position);
  }

  #write(fault: 'short' | undefined, from: Buffer, length: number, position: number): number {
    const wanted = fault === 'short' ? Math.floor(length / 2) : length;
    const count = this.fs.disk.write(this.inode, from.subarray(0, wanted), position);
    if (count === 0 && wanted > 0) throw systemError('ENOSPC', this.path);
    return count;
  }

  async writeSynced(from: Buffer, length: number, position: number): Promise<number> {
    const count = await this.write(from, length, position);
    if (count === length) await this.#sync(this.fs.disk.beginSyncOf(this.inode, position, length));
    return count;
  }

  sync(): Promise<void> {
    return this.#sync(this.fs.disk.beginSync(this.inode));
  }

  async #sync(covered: readonly Pending[]): Promise<void> {
    try {
      await this.#enter('sync');
      await this.fs.gate?.();
      this.fs.assertAlive(this.path);
    } catch (error) {
      this.fs.disk.forgetSync(covered);
      throw error;
    }
    this.fs.disk.endSync(covered);
  }

  timeSync(): number {
    this.fs.disk.endSync(this.fs.disk.beginSync(this.inode));
    return this.fs.syncMs;
  }

  async truncate(length: number): Promise<void> {
    await this.#enter('truncate');
    this.fs.disk.truncate(this.inode, length);
  }

  async size(): Promise<number> {
    await this.#enter('size');
    return this.inode.cache.length;
  }

  async close(): Promise<void> {
    this.#open = false;
    if (this.holdsLock) this.inode.locked = false;
  }

  #assertOpen(): void {
    if (!this.#open) throw systemError('EBADF', this.path);
  }

  #enter(method: string): Promise<'short' | undefined> {
    this.#assertOpen();
    return this.fs.enter(method, this.path);
  }
}

export function systemError(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}
