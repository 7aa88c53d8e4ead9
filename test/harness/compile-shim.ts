import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { command, type Need } from './describe-with.js';

export const C_COMPILER: Need = command('cc');

/** Compiles `<name>.c` of this folder into another one, and returns the library for LD_PRELOAD. */
export function compileShim(name: string, into: string): string {
  const library = join(into, `${name}.so`);
  execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, join(import.meta.dirname, `${name}.c`), '-ldl', '-pthread']);
  return library;
}
