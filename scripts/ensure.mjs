// Makes a fresh clone ready: Node new enough, packages installed, everything built. Needs nothing but Node itself.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './run.mjs';

function refuseOldNode() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [major, minor] = engines.node.match(/\d+/g).map(Number);
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return;
  console.error(`orchd needs Node ${engines.node}; this is ${process.version}.`);
  process.exit(1);
}

/** npm writes this file last, so that an install cut short does not count. */
function installed() {
  const mark = join(root, 'node_modules/.package-lock.json');
  return existsSync(mark) && statSync(mark).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs;
}

/** When this resolves the workspace is installed and built; when it cannot be, the process ends with code 1. */
export async function ensure() {
  refuseOldNode();
  if (!installed()) {
    console.log('installing the packages, once; about a minute');
    await run('install', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  }
  await run('build', process.execPath, ['scripts/build.mjs']);
}
