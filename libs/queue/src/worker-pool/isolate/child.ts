import { fork, type ChildProcess } from 'node:child_process';
import type { RegisteredHandler } from '../../handler/handler.registry.js';
import { inWords } from '../../maintenance/log.js';
import { PROCESS_ENTRY } from './entry-files.js';
import type { InsideSettings, ToInside } from './inside/protocol.js';
import { Isolate, type IsolateListener } from './isolate.js';

/** How long the last messages of a process that has exited are waited for. */
const LAST_WORDS_MS = 100;
/** A debugger's port can be opened once. */
const NOT_INHERITED = '--inspect';

/**
 * A child process, leader of a group of its own: whatever its handler starts is in that group, and is killed with it or after it. It beats
 * over the pipe. Beats that are close together it does not tell one by one, so the last one may be that much younger than it looks.
 */
export class Child extends Isolate {
  readonly #child: ChildProcess;
  readonly #beatEveryMs: number;
  #beatAtMs = Infinity;

  constructor(handler: RegisteredHandler, settings: InsideSettings, listener: IsolateListener) {
    super(handler, settings, listener);
    this.#beatEveryMs = settings.beatEveryMs;
    this.#child = fork(PROCESS_ENTRY, [JSON.stringify({ ...settings, parent: process.pid })], {
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [...process.execArgv.filter((flag) => !flag.startsWith(NOT_INHERITED)), ...heapFlags(handler)],
    });
    this.#child.on('message', (message) => this.heard(message));
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
    // What could not be sent to a process that is gone: its exit says so.
    this.#child.send(message, () => undefined);
  }

  protected end(): void {
    this.#killGroup();
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    this.#killGroup();
    const how = signal ? `the process was killed by ${signal}` : `the process ended with exit code ${code}`;
    if (!this.#child.connected) return this.ended(how);
    const timer = setTimeout(() => this.ended(how), LAST_WORDS_MS);
    this.#child.once('disconnect', () => {
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
