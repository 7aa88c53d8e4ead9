// npm run simulate [-- --seed S --rounds N]: random lives of a queue on a simulated disk, each driven by one seed; a failing seed is printed.
import { parseArgs } from 'node:util';
import { ensure } from './ensure.mjs';
import { root } from './run.mjs';
import { spawnSync } from 'node:child_process';

const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' }, rounds: { type: 'string', default: '2000' } } });
for (const [name, value] of Object.entries(values)) {
  if (/^\d{1,9}$/.test(value)) continue;
  console.error(`--${name} must be a whole number, not ${JSON.stringify(value)}`);
  process.exit(78);
}
await ensure();
const jest = ['run', '--silent', 'jest', '--', '--selectProjects', 'e2e', '--testPathPatterns', 'simulation'];
const env = { ...process.env, ORCHD_SIM_SEED: values.seed, ORCHD_SIM_ROUNDS: values.rounds };
process.exit(spawnSync('npm', jest, { cwd: root, env, stdio: 'inherit' }).status ?? 1);
