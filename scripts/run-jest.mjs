// One Jest project as a step; its numbers are written to reports/<as>.json, which .ci/run adds up.
import { rmSync } from 'node:fs';
import { step } from './run.mjs';

/** End to end tests start processes and measure nothing, but a busy machine makes them slow: one at a time. */
const WORKERS = { unit: '2', e2e: '1' };

export function jest(suite, { as = suite, quiet = false } = {}) {
  const file = `reports/${as}.json`;
  rmSync(file, { force: true });
  const args = ['run', '--silent', 'jest', '--', '--selectProjects', suite, `--maxWorkers=${WORKERS[suite]}`, '--passWithNoTests'];
  return step(as, 'npm', [...args, '--json', `--outputFile=${file}`], { quiet });
}
