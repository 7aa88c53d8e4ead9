import { PassThrough, Writable } from 'node:stream';
import { run } from './run.js';
import { realWorld, type World } from './world.js';
import { FakeQueue, FakeServer } from './fake-orchd.fixture.js';

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The result line, parsed; empty where there is none. */
  readonly result: Record<string, unknown>;
}

export interface RunSettings {
  readonly interrupt?: AbortSignal;
  readonly world?: World;
}

export async function runLoadgen(argv: readonly string[], settings: RunSettings = {}): Promise<Finished> {
  const stdout = new Captured();
  const stderr = new Captured();
  const { interrupt = new AbortController().signal, world = realWorld } = settings;
  const code = await run(argv, { stdout, stderr, interrupt, world });
  const result = stdout.text.startsWith('{') ? (JSON.parse(stdout.text) as Record<string, unknown>) : {};
  return { code, stdout: stdout.text, stderr: stderr.text, result };
}

/** A time that passes `factor` times as fast; timers keep their length. */
export function fastWorld(factor: number): World {
  return { ...realWorld, now: () => performance.now() * factor };
}

/** Runs `use` with as many fake servers on one queue, and ends them. */
export async function withServers(count: number, use: (queue: FakeQueue, ...servers: FakeServer[]) => Promise<void>): Promise<void> {
  const queue = new FakeQueue();
  const servers = await Promise.all(Array.from({ length: count }, () => new FakeServer(queue).start()));
  try {
    await use(queue, ...servers);
  } finally {
    await Promise.all(servers.map((server) => server.kill()));
  }
}

class Captured extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.text += chunk.toString();
    callback();
  }
}

/** A terminal of 120 columns that keeps what is drawn on it. */
export function fakeTerminal(): PassThrough & { isTTY: true; columns: number } {
  return Object.assign(new PassThrough(), { isTTY: true as const, columns: 120 });
}
