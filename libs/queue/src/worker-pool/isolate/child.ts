import { spawn, type ChildProcess } from 'node:child_process';
import { PassThrough, type Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { RegisteredHandler } from '../../handler/handler.registry.js';
import { inWords } from '../../maintenance/log.js';
import { PROCESS_ENTRY } from './entry-files.js';
import { JsonLines, PIPE_FD } from './inside/json-lines.js';
import type { InsideSettings, ToInside } from './inside/protocol.js';
import { Isolate, type IsolateListener } from './isolate.js';

/** How long the last messages of a process that has exited are waited for. */
const LAST_WORDS_MS = 100;
/** A debugger's port can be opened once. */
const NOT_INHERITED = '--inspect';

/**
 * A child process, leader of a group of its own: whatever its handler starts is in that group, unless it makes one for itself, and is killed
 * with it or after it. It beats over a pipe, which is our own and not Node's channel: what a handler writes there must not end us. Beats
 * that are close together it does not tell one by one, so the last one may be that much younger than it looks.
 */
export class Child extends Isolate {
  readonly #child: ChildProcess;
  readonly #pipe: Duplex;
  readonly #lines: JsonLines;
  readonly #beatEveryMs: number;
  #beatAtMs = Infinity;

  constructor(handler: RegisteredHandler, settings: InsideSettings, listener: IsolateListener) {
    super(handler, settings, listener);
    this.#beatEveryMs = settings.beatEveryMs;
    const flags = [...process.execArgv.filter((flag) => !flag.startsWith(NOT_INHERITED)), ...heapFlags(handler)];
    this.#child = spawn(process.execPath, [...flags, fileURLToPath(PROCESS_ENTRY), JSON.stringify({ ...settings, parent: process.pid })], {
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    });
    // None, when this process has no descriptor left; then an `error` follows.
    this.#pipe = ((this.#child.stdio as ChildProcess['stdio'] | undefined)?.[PIPE_FD] as Duplex | undefined) ?? new PassThrough().destroy();
    this.#lines = new JsonLines(this.#pipe);
    this.#lines.listen((message) => this.heard(message));
    this.#child.on('exit', (code, signal) => this.#exited(code, signal));
    // Of a process that could not be started; any other is followed by its exit.
    this.#child.on('error', (error) => this.#child.pid ?? this.ended(inWords(error)));
  }

  protected ageMs(): number {
    return performance.now() - this.#beatAtMs - this.#beatEveryMs;
  }

  protected override beaten(): void {
    this.#beatAtMs = performance.now();
  }

  protected task(): string {
    return `/proc/${this.#child.pid}`;
  }

  protected entering(): void {
    this.#beatAtMs = Infinity;
  }

  protected post(message: ToInside): void {
    this.#lines.send(message);
  }

  protected end(): void {
    this.#killGroup();
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    this.#killGroup();
    const how = signal ? `the process was killed by ${signal}` : `the process ended with exit code ${code}`;
    if (this.#pipe.closed) return this.ended(how);
    // Whoever got the other end from it and left its group keeps neither us nor a descriptor of ours.
    const timer = setTimeout(() => this.#pipe.destroy(), LAST_WORDS_MS);
    this.#pipe.once('close', () => {
      clearTimeout(timer);
      this.ended(how);
    });
  }

  #killGroup(): void {
    try {
      process.kill(-this.#child.pid!, 'SIGKILL');
    } catch {
      // Nobody of the group is left.
    }
  }
}

function heapFlags({ options: { resourceLimits = {} } }: RegisteredHandler): string[] {
  const { maxOldGenerationSizeMb, maxYoungGenerationSizeMb } = resourceLimits;
  const flags: string[] = [];
  if (maxOldGenerationSizeMb) flags.push(`--max-old-space-size=${maxOldGenerationSizeMb}`);
  if (maxYoungGenerationSizeMb) flags.push(`--max-semi-space-size=${Math.ceil(maxYoungGenerationSizeMb / 3)}`);
  return flags;
}
