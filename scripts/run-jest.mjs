// One suite as a step; its numbers are written to reports/<as>.json, which .ci/run adds up.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, step } from './run.mjs';

/** End to end tests wait for processes and for time more than they compute: two files at a time fit on two cores. */
const WORKERS = 2;
/** Jest's projects in each. */
const PROJECTS = { unit: ['unit'], e2e: ['e2e', 'e2e-redis'] };

export function jest(suite, { as = suite, quiet = false } = {}) {
  const file = join(root, 'reports', `${as}.json`);
  mkdirSync(join(root, 'reports'), { recursive: true });
  rmSync(file, { force: true }); // an old one must not speak for a run that died
  const args = ['run', '--silent', 'jest', '--', '--selectProjects', ...PROJECTS[suite], `--maxWorkers=${WORKERS}`];
  return step(as, 'npm', [...args, '--json', `--outputFile=${file}`], { quiet });
}
