import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The version of the package that this file is installed in, however deep the compiler put it there. */
export const VERSION = readVersion(import.meta.dirname);

function readVersion(folder: string): string {
  try {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: string; version?: string };
    if (name === 'orchd' && version !== undefined) return version;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const parent = dirname(folder);
  if (parent === folder) throw new Error('the package.json of orchd is missing');
  return readVersion(parent);
}
