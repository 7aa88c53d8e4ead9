import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What every file of a folder holds, in a form that is quick to compare and short to print. */
export function digests(folder: string): Record<string, string> {
  const digest = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
  return Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => [name, digest(name)]),
  );
}
