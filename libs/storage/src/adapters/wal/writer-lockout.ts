import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { tryLock } from 'fs-native-extensions';
import { OrchdError } from '../../contract/index.js';
import { unavailable } from './log/damage.js';
import { LOCK_NAME } from './log/file-names.js';
import { errorCode } from './log/file-system.js';

declare module 'fs-native-extensions' {
  /** Shared, over the whole file, without waiting; a descriptor for reading is enough. False: somebody holds it exclusively. */
  export function tryLock(descriptor: number, options: { shared: true }): boolean;
}

/**
 * Keeps every orchd out of a log's folder until the returned function is called, so that what is read there holds still. Any number of
 * readers may do so at once. Safe on a read-only folder: LOCK is neither written nor made, and where there is none no orchd can be running.
 *
 * Rejects with `storage_locked` while an orchd has the folder.
 */
export async function lockWritersOut(folder: string): Promise<() => Promise<void>> {
  let file: FileHandle | undefined;
  try {
    file = await open(path.join(folder, LOCK_NAME), 'r');
    if (!tryLock(file.fd, { shared: true })) throw new OrchdError('storage_locked', `${folder} is in use by an orchd${await holder(file)}`);
    const held = file;
    return () => held.close();
  } catch (error) {
    await file?.close();
    if (errorCode(error) === 'ENOENT') return async () => undefined;
    throw unavailable(`Cannot lock ${folder}`, error);
  }
}

async function holder(file: FileHandle): Promise<string> {
  const pid = /pid \d+/.exec(await file.readFile('latin1'))?.[0];
  return pid === undefined ? '' : ` (${pid})`;
}
