// Compiles what ships (incremental) and lays the CommonJS launcher of the service beside the compiled app.
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

const tsc = join(root, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-b', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
if (status !== 0) process.exit(1);
cpSync(join(root, 'apps/orchd/launch'), join(root, 'apps/orchd/dist'), { recursive: true });
