// npm run demo: starts orchd on its write-ahead log, drives 2,000 simulated jobs through it over HTTP, stops it cleanly.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensure } from './ensure.mjs';
import { root } from './run.mjs';

const LOAD = ['--jobs', '2000', '--work-ms', '20', '--fail-prob', '0.2', '--hang-prob', '0.01', '--label', 'demo'];
const READY_WITHIN_MS = 20_000;
const READY_POLL_MS = 50;

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function untilReady(url, ended) {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline) {
    const ready = await fetch(`${url}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return;
    const pause = new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
    if ((await Promise.race([ended, pause])) !== undefined) throw new Error('orchd ended before it was ready');
  }
  throw new Error(`orchd was not ready within ${READY_WITHIN_MS} ms`);
}

await ensure();
const dataDir = mkdtempSync(join(tmpdir(), 'orchd-demo-'));
const url = `http://127.0.0.1:${await freePort()}`;
const orchdArgs = ['--port', new URL(url).port, '--storage', 'wal', '--data-dir', dataDir];
const orchd = spawn(process.execPath, [join(root, 'apps/orchd/dist/main.js'), ...orchdArgs], { stdio: ['ignore', 'ignore', 'inherit'] });
const ended = once(orchd, 'exit').then(([code, signal]) => code ?? signal);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => orchd.kill('SIGTERM'));

try {
  await untilReady(url, ended);
  console.log(`orchd is ready, its write-ahead log in ${dataDir}`);
  console.log(`look at ${url}/stats, ${url}/readyz and ${url}/jobs?limit=10 while it works`);
  console.log('2,000 jobs of 20 ms: 20 % of the attempts fail and are tried again, 1 % hang and are taken from their worker');
  const loadgen = spawn(process.execPath, [join(root, 'apps/loadgen/dist/main.js'), '--url', url, ...LOAD], { stdio: 'inherit' });
  const [code] = await once(loadgen, 'exit');
  if (code !== 0) throw new Error(`the load generator says the run failed (exit code ${code})`);
  console.log('every one of them was read back by its id: none was lost');
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  orchd.kill('SIGTERM');
  const code = await ended;
  console.log(code === 0 ? 'orchd stopped cleanly' : `orchd ended with ${code}`);
  if (code !== 0) process.exitCode = 1;
  rmSync(dataDir, { recursive: true, force: true });
}
