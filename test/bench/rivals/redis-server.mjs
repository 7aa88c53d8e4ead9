import { Redis } from 'ioredis';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** How the one Redis of a comparison keeps what it is told. */
export const MODES = {
  none: { title: 'without persistence', args: ['--appendonly', 'no'] },
  always: { title: 'appendfsync always', args: ['--appendonly', 'yes', '--appendfsync', 'always'] },
};

/** A Redis of the run's own, on a free port; it is gone with `stop`, and with this process. */
export async function startRedis(mode, folder) {
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...MODES[mode].args];
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  await new Promise((resolve, reject) => {
    child.once('error', () => reject(new Error('the rivals meet on a Redis: there is no redis-server here')));
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.includes('Ready to accept connections')) resolve();
    });
  });
  const redis = new Redis({ port, host: '127.0.0.1', protocol: 2 });
  return {
    port,
    redis,
    empty: () => redis.flushall(),
    async stop() {
      redis.disconnect();
      process.off('exit', kill);
      kill();
      await once(child, 'close');
    },
  };
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
