// npm run bench [-- name ...]: runs the measured comparisons of test/bench one after the other, or only the named ones.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensure } from './ensure.mjs';
import { root, run } from './run.mjs';

const SUFFIX = '.bench.mjs';
const folder = join(root, 'test/bench');

const all = readdirSync(folder)
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length))
  .sort();
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`No benchmark ${unknown.join(', ')}; there are: ${all.join(', ')}`);
  process.exit(1);
}

await ensure();
for (const name of wanted.length > 0 ? wanted : all) {
  await run(name, process.execPath, [join(folder, `${name}${SUFFIX}`)]);
}
