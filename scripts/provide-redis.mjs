// The Redis suites start a server of their own. Where there is no binary, root on Debian installs one; elsewhere they are skipped by name.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { report, step } from './run.mjs';

const BINARY = 'redis-server';
const APT = '/usr/bin/apt-get';

/** Resolves when the binary is there or cannot be had. */
export async function provideRedis() {
  const missing = spawnSync(BINARY, ['--version']).error !== undefined;
  if (!missing || process.getuid?.() !== 0 || !existsSync(APT)) return;
  // A runlevel of 1 keeps Debian from starting a service of its own on the usual port.
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const command = `${APT} update -q && ${APT} install -q -y --no-install-recommends ${BINARY}`;
  report(await step(BINARY, 'sh', ['-c', command], { quiet: true, env }));
}
