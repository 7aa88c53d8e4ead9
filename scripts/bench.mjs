// npm run bench [-- name ... --flag ...]: runs the measured comparisons of test/bench one after the other, or only the named ones. Flags come
// after the names and are handed on to each.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensure } from './ensure.mjs';
import { root, run } from './run.mjs';

const SUFFIX = '.bench.mjs';
const folder = join(root, 'test/bench');
/** With many repeats a benchmark may well take an hour. */
const HANG_LIMIT_MS = 2 * 3_600_000;

const all = readdirSync(folder)
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length))
  .sort();
const args = process.argv.slice(2);
const firstFlag = args.findIndex((arg) => arg.startsWith('--'));
const wanted = firstFlag === -1 ? args : args.slice(0, firstFlag);
const flags = args.slice(wanted.length);
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`No benchmark ${unknown.join(', ')}; there are: ${all.join(', ')}`);
  process.exit(1);
}

if (wanted.length === 0 && flags.includes('--help')) {
  console.log(
    `npm run bench -- [name ...] [flags]\nnames, default all: ${all.join(', ')}\nnpm run bench -- NAME --help shows the flags and parts of one`,
  );
  process.exit(0);
}

await ensure();
for (const name of wanted.length > 0 ? wanted : all) {
  await run(name, process.execPath, [join(folder, `${name}${SUFFIX}`), ...flags], { hangLimitMs: HANG_LIMIT_MS });
}
