import { describe, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';

/** Something of the machine that a test cannot do without. */
export interface Need {
  readonly name: string;
  readonly met: boolean;
}

export const ROOT: Need = { name: 'root', met: process.getuid?.() === 0 };

/** A command on the path. */
export function command(name: string): Need {
  return { name, met: spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined };
}

/** Tests that need something of the machine: skipped by name where it is missing, but not where `CI` is `true`; there they fail. */
export function describeWith(needs: readonly Need[], title: string, block: () => void): void {
  const missing = needs.filter(({ met }) => !met).map(({ name }) => name);
  if (missing.length === 0) describe(title, block);
  else if (process.env.CI !== 'true')
    describe.skip(`${title} (needs ${missing.join(', ')})`, block); // a laptop may lack it, CI may not
  else {
    describe(title, () => {
      it(`finds ${missing.join(', ')} on this machine`, () => {
        throw new Error(`missing: ${missing.join(', ')}; in CI nothing is skipped`);
      });
    });
  }
}
