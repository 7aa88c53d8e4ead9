// After `npm ci` or `npm install`: builds, so that `npx nest build orchd`, which compiles the service alone, finds the libraries.
// Without the compiler (--omit=dev) there is nothing to do. An install has not failed because the sources do not compile.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { report, root, step } from './run.mjs';

if (existsSync(join(root, 'node_modules/typescript'))) {
  report(await step('build', process.execPath, ['scripts/build.mjs']));
}
