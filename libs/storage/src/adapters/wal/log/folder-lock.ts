import path from 'node:path';
import { OrchdError } from '../../../contract/errors.js';
import { unavailable } from './damage.js';
import { LOCK_NAME } from './file-names.js';
import { errorCode, writeAll, type FileSystem, type OpenFile } from './file-system.js';

const LINE_BYTES = 64;
const LINE = /^boot (\d{1,15}) pid (\d{1,10}) *\n$/;

/** One process per folder. The kernel frees the lock when the process dies, so a stale one cannot exist. */
export class FolderLock {
  private constructor(
    private readonly fs: FileSystem,
    private readonly path: string,
    private readonly file: OpenFile,
    /** The last boot that began a segment here, as far as LOCK knows; 0 for none. */
    readonly lastBoot: number,
  ) {}

  /** Rejects with `storage_locked` while another process has the folder; not a byte of it is touched then. */
  static async take(fs: FileSystem, folder: string): Promise<FolderLock> {
    const lockPath = path.join(folder, LOCK_NAME);
    let file: OpenFile | undefined;
    try {
      file = await fs.openLocked(lockPath);
      const line = await readLine(fs, lockPath);
      if (file) return new FolderLock(fs, lockPath, file, line?.boot ?? 0);
      throw new OrchdError('storage_locked', `${folder} is in use by another orchd${line ? ` (pid ${line.pid})` : ''}.`);
    } catch (error) {
      await file?.close();
      throw unavailable(`Cannot lock ${folder}`, error);
    }
  }

  /** Tells others, and the next opening, which boot writes here. To be called once its first segment is on disk. */
  async announce(boot: number): Promise<void> {
    await writeAll(this.file, Buffer.from(`boot ${boot} pid ${process.pid}`.padEnd(LINE_BYTES - 1) + '\n'), 0);
  }

  /**
   * The boot that LOCK names now, read by name: locks can be lost (a network disk, a LOCK deleted by hand), and a higher number than
   * one's own means that another process has taken over. Undefined: LOCK cannot be read, which proves nothing.
   */
  async announcedBoot(): Promise<number | undefined> {
    try {
      return (await readLine(this.fs, this.path))?.boot;
    } catch {
      return undefined;
    }
  }

  async release(): Promise<void> {
    await this.file.close();
  }
}

/** The last boot that LOCK names; 0 where there is none. Without taking the lock. */
export async function lastBootOf(fs: FileSystem, folder: string): Promise<number> {
  try {
    return (await readLine(fs, path.join(folder, LOCK_NAME)))?.boot ?? 0;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0;
    throw unavailable(`Cannot read ${LOCK_NAME}`, error);
  }
}

async function readLine(fs: FileSystem, lockPath: string): Promise<{ boot: number; pid: number } | undefined> {
  const file = await fs.open(lockPath, 'read');
  try {
    const bytes = Buffer.alloc(LINE_BYTES);
    const count = await file.read(bytes, 0);
    const [, boot, pid] = LINE.exec(bytes.toString('latin1', 0, count)) ?? [];
    return boot === undefined ? undefined : { boot: Number(boot), pid: Number(pid) };
  } finally {
    await file.close();
  }
}
