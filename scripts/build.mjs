// Lays the CommonJS launcher of the service into its dist folder and compiles what ships (incremental).
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

cpSync(join(root, 'apps/orchd/launch'), join(root, 'apps/orchd/dist'), { recursive: true });
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-b', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
process.exit(status ?? 1);
