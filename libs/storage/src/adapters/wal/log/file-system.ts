/**
 * What the log needs of a file system, and nothing more, so that a test can put one below it that fails, tears, fills up or loses
 * what was not synced. Failures are rejections with the operating system's `code` (`ENOSPC`, `EIO`, `EEXIST` ...).
 */
export interface FileSystem {
  /** Makes the folder (0700) with its parents where missing; each made folder's own name is synced. */
  makeFolder(path: string): Promise<void>;
  openFolder(path: string): Promise<OpenFolder>;
  /** Names, in no particular order. */
  list(folder: string): Promise<string[]>;
  /** `create` makes a new file (0600) and fails with `EEXIST` where there is one; the other two fail with `ENOENT` where there is none. */
  open(path: string, mode: 'read' | 'write' | 'create'): Promise<OpenFile>;
  /** Opens, or makes, a file and locks it exclusively until it is closed or the process dies. `undefined`: another one holds it. */
  openLocked(path: string): Promise<OpenFile | undefined>;
  /** A second name for a file; fails with `EEXIST`, never replaces. */
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Bytes that this process may still write. */
  freeBytes(folder: string): Promise<number>;
}

/** Names made, renamed or removed in a folder survive a power cut once `sync` has resolved. */
export interface OpenFolder {
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenFile {
  /** Fills `into` from `position` on; resolves with the bytes read, fewer only at the end of the file. */
  read(into: Buffer, position: number): Promise<number>;
  /** Writes the first `length` bytes; resolves with the bytes written, which may be fewer, with no error (a disk filling up). */
  write(from: Buffer, length: number, position: number): Promise<number>;
  /**
   * The same, blocking: for the page cache a few kilobytes are a matter of microseconds, the way through the thread pool is not. Throws where
   * `write` rejects.
   */
  writeNow(from: Buffer, length: number, position: number): number;
  /** As `write`, and resolves when what it wrote is synced, in one call of the system where there is one. Vouches for these bytes alone. */
  writeSynced(from: Buffer, length: number, position: number): Promise<number>;
  /** fdatasync: contents and size. */
  sync(): Promise<void>;
  /** The same, blocking, in ms: without the way through the thread pool, which takes longer than a sync that does nothing. */
  timeSync(): number;
  truncate(length: number): Promise<void>;
  size(): Promise<number>;
  close(): Promise<void>;
}

/** Asks for no `instanceof`: an error of the system may come from another realm (a test runner's, a worker's). */
export function errorCode(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Writes on after a short write, so that a disk that is full says so itself. */
export async function writeAll(file: OpenFile, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const count = await file.write(bytes.subarray(done), bytes.length - done, position + done);
    if (count === 0) throw new Error(`Nothing more could be written at offset ${position + done}.`);
    done += count;
  }
}

export async function sizeOf(fs: FileSystem, path: string): Promise<number> {
  const file = await fs.open(path, 'read');
  try {
    return await file.size();
  } finally {
    await file.close();
  }
}
