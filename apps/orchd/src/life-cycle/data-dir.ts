import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { EXIT } from './exit-codes.js';
import { StartFailure } from './start-failure.js';

/**
 * A cheap look before anything listens: the folder, or the next one above it that is there, is a folder and may be read and written. Nothing
 * is made or opened: what ends the start for another reason leaves no folder behind, and one of a running process stays untouched.
 */
export function checkDataDir(dir: string): void {
  const path = resolve(dir);
  try {
    check(path);
  } catch (error) {
    throw new StartFailure(EXIT.storageFailed, `cannot use the data folder ${path} (--data-dir): ${reason(error)}`, { cause: error });
  }
}

function check(path: string): void {
  try {
    if (!statSync(path).isDirectory()) throw new Error('it is not a folder');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    return check(dirname(path));
  }
  accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  ENOTDIR: 'a part of its path is not a folder',
  EROFS: 'the file system is read-only',
};

function reason(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? message;
}
