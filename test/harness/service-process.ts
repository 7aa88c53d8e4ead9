import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { call, type Answer, type CallOptions } from './http-call.js';
import { eventually } from './eventually.js';

const MAIN = join(import.meta.dirname, '../../apps/orchd/dist/main.js');
/** For the end of a process whose connection broke to be known. */
const LAST_WORDS_MS = 1000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

export interface Launch {
  readonly flags: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly nodeFlags?: readonly string[];
  readonly cwd?: string;
  /** Run as this user; needs root. */
  readonly uid?: number;
  /** A command that turns into the one behind it, such as `prlimit --nofile=64`. */
  readonly wrapper?: readonly string[];
}

/** The built service as a process of its own. Nothing here waits for a time; everything waits for an event or for an answer over HTTP. */
export class ServiceProcess {
  readonly #child: ChildProcess;
  readonly #log: LogLine[] = [];
  readonly #listeners = new Set<() => void>();
  #stdout = '';
  #stderr = '';
  #port = 0;
  /** Resolves when the process is gone and all it printed is here. */
  readonly exited: Promise<Exit>;

  constructor({ flags, env = {}, nodeFlags = [], cwd, uid, wrapper = [] }: Launch) {
    const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(ORCHD_|NODE_OPTIONS$)/.test(name)));
    const [file, ...args] = [...wrapper, process.execPath, ...nodeFlags, MAIN, ...flags] as [string, ...string[]];
    this.#child = spawn(file, args, {
      env: { ...inherited, ...env },
      cwd,
      uid,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#read(line));
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.exited = once(this.#child, 'close').then(([code, signal]: (number | string | null)[]) => {
      const exit = { code: code as number | null, signal: signal as NodeJS.Signals | null };
      this.#exit = exit;
      this.#notify();
      return exit;
    });
  }

  #exit: Exit | null = null;
  /** Whether a test has sent it a signal. */
  #told = false;

  get pid(): number {
    return this.#child.pid!;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Lines logged so far. */
  get log(): readonly LogLine[] {
    return this.#log;
  }

  /** The most memory that it ever occupied. Linux only. */
  get peakMib(): number {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1]) / 1024;
  }

  /** Resolves with the first line, logged before or after the call, that fits; rejects when the process ends without it. */
  async logged(fits: (line: LogLine) => boolean): Promise<LogLine> {
    for (;;) {
      const line = this.#log.find(fits);
      if (line) return line;
      if (this.#exit) throw new Error(`ended (${JSON.stringify(this.#exit)}) without the awaited line:\n${this.#stdout}${this.#stderr}`);
      await new Promise<void>((resolve) => this.#listeners.add(resolve));
    }
  }

  /** Resolves when the port answers; the storage may still be replaying. */
  async listening(): Promise<this> {
    await this.logged(({ msg }) => msg === 'listening');
    return this;
  }

  /** Resolves when `/readyz` says 200. */
  async ready(): Promise<this> {
    await this.listening();
    await eventually(`readiness of ${this.url}`, async () => {
      if (this.#exit) throw new Error(`ended before it was ready:\n${this.#stdout}${this.#stderr}`);
      return (await this.call('GET', '/readyz')).status === 200;
    });
    return this;
  }

  /** Rejects when the connection breaks; where that is because the service ended, untold, with what it had to say. */
  async call<T = unknown>(method: string, path: string, options?: CallOptions): Promise<Answer<T>> {
    try {
      return await call<T>(this.#port, method, path, options);
    } catch (error) {
      if (this.#told) throw error;
      const exit = await Promise.race([this.exited, setTimeout(LAST_WORDS_MS, null)]);
      if (exit === null) throw error;
      throw new Error(`ended (${JSON.stringify(exit)}) during ${method} ${path}:\n${this.#stdout}${this.#stderr}`, { cause: error });
    }
  }

  /** POSTs the body as JSON. */
  post<T = unknown>(path: string, json?: unknown, headers?: CallOptions['headers']): Promise<Answer<T>> {
    return this.call<T>('POST', path, { json, headers });
  }

  signal(signal: NodeJS.Signals): void {
    this.#told = true;
    this.#child.kill(signal);
  }

  /** Asks it to stop and resolves with how it ended. */
  stop(): Promise<Exit> {
    this.signal('SIGTERM');
    return this.exited;
  }

  /** kill -9: nothing is flushed, nothing is closed. */
  kill(): Promise<Exit> {
    this.signal('SIGKILL');
    return this.exited;
  }

  #read(line: string): void {
    this.#stdout += `${line}\n`;
    if (!line.startsWith('{')) return;
    const parsed = JSON.parse(line) as LogLine;
    if (parsed.msg === 'listening') this.#port = parsed.port as number;
    this.#log.push(parsed);
    this.#notify();
  }

  #notify(): void {
    for (const resolve of this.#listeners) resolve();
    this.#listeners.clear();
  }
}
