import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const BENCH = dirname(dirname(fileURLToPath(import.meta.url)));
const ROOT = join(BENCH, '../..');
const ORCHD = join(ROOT, 'apps/orchd/dist/main.js');
const LOADGEN = join(ROOT, 'apps/loadgen/dist/main.js');

const READY_POLL_MS = 5;
const READY_WITHIN_MS = 60_000;

const running = new Set();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

/** A node process without the environment that would set up an orchd; it does not outlive this one. */
function launch(script, args, nodeFlags = []) {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(ORCHD_|NODE_OPTIONS$)/.test(name)));
  const child = spawn(process.execPath, [...nodeFlags, script, ...args], { env: inherited, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (errors = (errors + text).slice(-4000)));
  const ended = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return { code, signal, errors };
  });
  return { child, ended };
}

/** A server process that prints one JSON line with `"msg":"listening"` and its `port`. */
class Server {
  constructor(name, script, args, nodeFlags = []) {
    this.name = name;
    const { child, ended } = launch(script, args, nodeFlags);
    this.child = child;
    this.ended = ended;
    this.listening = new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const { msg, port } = line.startsWith('{') ? JSON.parse(line) : {};
        if (msg === 'listening') resolve(port);
      });
      ended.then(({ code, errors }) => reject(new Error(`${name} ended with ${code} before it listened: ${errors}`)));
    });
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  async begin(ready) {
    this.port = await this.listening;
    const deadline = performance.now() + READY_WITHIN_MS;
    while (!(await ready(this.url))) {
      if (performance.now() > deadline) throw new Error(`${this.name} was not ready within ${READY_WITHIN_MS} ms`);
      await setTimeout(READY_POLL_MS);
    }
    return this;
  }

  /** Resolves when it has ended. */
  async stop(signal = 'SIGTERM') {
    this.child.kill(signal);
    return this.ended;
  }
}

/** Resolves when the built service is ready for jobs. Port 0 is a free one. */
export function startOrchd(flags, port = 0, nodeFlags = []) {
  return new Server('orchd', ORCHD, ['--port', String(port), ...flags], nodeFlags).begin((url) =>
    fetch(`${url}/readyz`).then(({ ok }) => ok),
  );
}

/** Resolves when a server of this folder listens. */
export function startServer(script, args = []) {
  return new Server(script, join(BENCH, script), args).begin(() => true);
}

/** Begins a run of the built load generator; resolves with its result line, its exit code and its remarks. */
export async function runLoadgen(url, flags) {
  const { child, ended } = launch(LOADGEN, ['--url', url, ...flags.map(String)]);
  const line = lastLine(child.stdout);
  const { code, errors } = await ended;
  if (code !== 0 && code !== 1 && code !== 2) throw new Error(`loadgen ended with ${code}: ${errors}`);
  return { ...JSON.parse(await line), exit_code: code, remarks: errors };
}

/** Runs a script of this folder to its end; resolves with the JSON of its last line. */
export async function runScript(script, args, nodeFlags = []) {
  const { child, ended } = launch(join(BENCH, script), args, nodeFlags);
  const line = lastLine(child.stdout);
  const { code, errors } = await ended;
  if (code !== 0) throw new Error(`${script} ${args.join(' ')} ended with ${code}: ${errors}`);
  return JSON.parse(await line);
}

async function lastLine(stream) {
  let last = '';
  for await (const line of createInterface({ input: stream })) if (line !== '') last = line;
  return last;
}
