import fs from 'node:fs';
import path from 'node:path';
import { tryLock } from 'fs-native-extensions';
import { errorCode, type FileSystem, type OpenFile, type OpenFolder } from './file-system.js';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const { O_CREAT, O_EXCL, O_RDONLY, O_RDWR } = fs.constants;
const FLAGS = { read: O_RDONLY, write: O_RDWR, create: O_RDWR | O_CREAT | O_EXCL };
/** Elsewhere such a write may end in the disk's own cache. */
const SYNCED_WRITES = process.platform === 'linux' ? O_RDWR | fs.constants.O_DSYNC : undefined;

/** Callbacks of node:fs, each in one promise: FileHandle costs several per call, and the log makes two calls per flush. */
export const nodeFileSystem: FileSystem = {
  async makeFolder(folder) {
    await makeFolder(path.resolve(folder));
  },

  async openFolder(folder) {
    return new NodeFolder(await open(folder, O_RDONLY | fs.constants.O_DIRECTORY));
  },

  list: (folder) => fs.promises.readdir(folder),

  async open(file, mode) {
    const descriptor = await open(file, FLAGS[mode]);
    if (mode === 'read' || SYNCED_WRITES === undefined) return new NodeFile(descriptor);
    try {
      return new NodeFile(descriptor, await open(file, SYNCED_WRITES));
    } catch (error) {
      await close(descriptor);
      throw error;
    }
  },

  async openLocked(file) {
    const descriptor = await open(file, O_RDWR | O_CREAT);
    try {
      if (tryLock(descriptor)) return new NodeFile(descriptor);
    } catch (error) {
      await close(descriptor);
      throw error;
    }
    await close(descriptor);
    return undefined;
  },

  link: (from, to) => fs.promises.link(from, to),
  rename: (from, to) => fs.promises.rename(from, to),
  unlink: (file) => fs.promises.unlink(file),

  async freeBytes(folder) {
    const { bavail, bsize } = await fs.promises.statfs(folder);
    return bavail * bsize;
  },
};

class NodeFolder implements OpenFolder {
  constructor(private readonly descriptor: number) {}

  /** fsync, not fdatasync: ext4 does not count a new name among the data. */
  sync(): Promise<void> {
    return new Promise((resolve, reject) => fs.fsync(this.descriptor, (error) => (error ? reject(error) : resolve())));
  }

  close(): Promise<void> {
    return close(this.descriptor);
  }
}

class NodeFile implements OpenFile {
  /** @param syncing a second descriptor whose writes the kernel syncs: one way through the thread pool instead of two */
  constructor(
    private readonly descriptor: number,
    private readonly syncing?: number,
  ) {}

  async read(into: Buffer, position: number): Promise<number> {
    let filled = 0;
    while (filled < into.length) {
      const count = await this.#readOnce(into, filled, position + filled);
      if (count === 0) break;
      filled += count;
    }
    return filled;
  }

  #readOnce(into: Buffer, offset: number, position: number): Promise<number> {
    return new Promise((resolve, reject) =>
      fs.read(this.descriptor, into, offset, into.length - offset, position, (error, count) => (error ? reject(error) : resolve(count))),
    );
  }

  write(from: Buffer, length: number, position: number): Promise<number> {
    return write(this.descriptor, from, length, position);
  }

  writeNow(from: Buffer, length: number, position: number): number {
    return fs.writeSync(this.descriptor, from, 0, length, position);
  }

  async writeSynced(from: Buffer, length: number, position: number): Promise<number> {
    if (this.syncing !== undefined) return write(this.syncing, from, length, position);
    const count = await this.write(from, length, position);
    if (count === length) await this.sync();
    return count;
  }

  sync(): Promise<void> {
    return new Promise((resolve, reject) => fs.fdatasync(this.descriptor, (error) => (error ? reject(error) : resolve())));
  }

  timeSync(): number {
    const start = performance.now();
    fs.fdatasyncSync(this.descriptor);
    return performance.now() - start;
  }

  truncate(length: number): Promise<void> {
    return new Promise((resolve, reject) => fs.ftruncate(this.descriptor, length, (error) => (error ? reject(error) : resolve())));
  }

  size(): Promise<number> {
    return new Promise((resolve, reject) => fs.fstat(this.descriptor, (error, stats) => (error ? reject(error) : resolve(stats.size))));
  }

  async close(): Promise<void> {
    if (this.syncing !== undefined) await close(this.syncing);
    await close(this.descriptor);
  }
}

function write(descriptor: number, from: Buffer, length: number, position: number): Promise<number> {
  return new Promise((resolve, reject) =>
    fs.write(descriptor, from, 0, length, position, (error, count) => (error ? reject(error) : resolve(count))),
  );
}

function open(file: string, flags: number): Promise<number> {
  return new Promise((resolve, reject) =>
    fs.open(file, flags, FILE_MODE, (error, descriptor) => (error ? reject(error) : resolve(descriptor))),
  );
}

function close(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => fs.close(descriptor, (error) => (error ? reject(error) : resolve())));
}

/** Not mkdir's own `recursive`: below a folder that takes no entries (/proc) Node 20 tries for ever. */
async function makeFolder(folder: string): Promise<void> {
  const above = path.dirname(folder);
  try {
    await fs.promises.mkdir(folder, { mode: FOLDER_MODE });
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return;
    if (errorCode(error) !== 'ENOENT' || above === folder) throw error;
    await makeFolder(above);
    await fs.promises.mkdir(folder, { mode: FOLDER_MODE });
  }
  await syncName(folder);
}

/** A folder's name lives in the folder above it, which need not be ours to open. */
async function syncName(folder: string): Promise<void> {
  let above: number;
  try {
    above = await open(path.dirname(folder), O_RDONLY);
  } catch (error) {
    if (errorCode(error) === 'EACCES') return;
    throw error;
  }
  const parent = new NodeFolder(above);
  try {
    await parent.sync();
  } finally {
    await parent.close();
  }
}
