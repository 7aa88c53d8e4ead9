import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BINARY = 'redis-server';
const READY = 'Ready to accept connections';
/** A port may be taken meanwhile, or be too high for a Cluster, whose bus is 10,000 above it. */
const TRIES = 10;

/** No Redis on this machine: its suites are skipped by name, and in CI that is a failure. */
const missing = spawnSync(BINARY, ['--version']).error !== undefined;

export function describeRedis(title: string, body: () => void): void {
  if (!missing) return describe(title, body);
  // Without a Redis the rest can still be tested; CI must have one.
  if (process.env.CI !== 'true') return describe.skip(`${title} (there is no ${BINARY} here)`, body);
  describe(title, () => {
    it(`finds ${BINARY}, which CI must have`, () => {
      throw new Error(`there is no ${BINARY}; apt-get install redis-server`);
    });
  });
}

/** A Redis of the test's own: a free port of 127.0.0.1, a folder that goes with it, no configuration but what is given. */
export class RedisServer {
  readonly #dir: string;
  readonly #args: readonly string[];
  #process: ChildProcess | null = null;

  private constructor(
    readonly port: number,
    dir: string,
    args: readonly string[],
  ) {
    this.#dir = dir;
    this.#args = args;
  }

  /** @param args as on the command line: '--appendonly', 'yes' */
  static async start(...args: string[]): Promise<RedisServer> {
    for (let i = 1; ; i++) {
      const server = new RedisServer(await freePort(), await mkdtemp(join(tmpdir(), 'orchd-redis-')), args);
      try {
        await server.begin();
        return server;
      } catch (error) {
        await server.stop();
        if (i === TRIES) throw error;
      }
    }
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Where its AOF is. */
  get dir(): string {
    return this.#dir;
  }

  /** Starts it again, on the same port and data. */
  async begin(): Promise<void> {
    const fixed = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.#dir, '--save', '', '--daemonize', 'no'];
    const child = spawn(BINARY, [...fixed, ...this.#args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#process = child;
    let output = '';
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes(READY)) resolve();
      });
      child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}: ${output.slice(-500)}`)));
    });
  }

  /** An operator's command, or a saboteur's. */
  async do(...command: readonly (string | number)[]): Promise<unknown> {
    const redis = new Redis(this.port, '127.0.0.1', { lazyConnect: true, retryStrategy: null, protocol: 2, enableReadyCheck: false });
    redis.on('error', () => undefined);
    await redis.connect();
    try {
      return await redis.call(String(command[0]), command.slice(1).map(String));
    } finally {
      redis.disconnect();
      await once(redis, 'end');
    }
  }

  /** kill -9: what it had not written is lost. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** SIGSTOP and SIGCONT: it is there and does not answer. */
  freeze(frozen: boolean): void {
    this.#process?.kill(frozen ? 'SIGSTOP' : 'SIGCONT');
  }

  async stop(): Promise<void> {
    await this.#end('SIGKILL');
    await rm(this.#dir, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'close');
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
