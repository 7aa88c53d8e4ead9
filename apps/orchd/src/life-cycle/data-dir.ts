import { accessSync, constants, mkdirSync, rmdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { EXIT } from './exit-codes.js';
import { StartFailure } from './start-failure.js';

/**
 * A cheap look before anything listens: the folder exists (made with mode 0700 if need be), is a folder, and may be read and written.
 * Nothing in it is opened, so a folder that belongs to a running process stays untouched.
 *
 * @returns removes again what was made, if nothing is in it: for a start that ends for another reason
 */
export function prepareDataDir(dir: string): () => void {
  const path = resolve(dir);
  const made: string[] = [];
  try {
    makeFolder(path, made);
    if (!statSync(path).isDirectory()) throw new Error('it is not a folder');
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    removeFolders(made);
    throw new StartFailure(EXIT.storageFailed, `cannot use the data folder ${path} (--data-dir): ${reason(error)}`, { cause: error });
  }
  return () => removeFolders(made);
}

/** Not mkdir's own `recursive`: below a folder that takes no entries (/proc) Node 20 tries for ever. */
function makeFolder(path: string, made: string[]): void {
  try {
    mkdirSync(path, { mode: 0o700 });
    made.push(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolder(dirname(path), made);
    mkdirSync(path, { mode: 0o700 });
    made.push(path);
  }
}

function removeFolders(made: readonly string[]): void {
  try {
    for (const folder of made.toReversed()) rmdirSync(folder);
  } catch {
    // Somebody uses it by now.
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EEXIST: 'it is not a folder',
  ENOTDIR: 'a part of its path is not a folder',
  EROFS: 'the file system is read-only',
  ENOENT: 'a folder cannot be made there',
  ENOSPC: 'the disk is full',
};

function reason(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? message;
}
