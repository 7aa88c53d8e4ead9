import type { Handler } from '../../../handler/handler.js';
import { failureText } from '../../failure-text.js';
import { InsideContext } from './inside-context.js';
import { returned, stackOf, threw } from './outcome.js';
import type { InsideSettings, Line, ToInside } from './protocol.js';

type HandlerModule = Partial<{ handle: Handler['handle']; close: () => unknown; default: unknown }>;

/** Held before any handler could replace it. */
const exit = process.exit.bind(process);

/** Runs one handler's jobs, one at a time, inside a thread or a child process. */
export class HandlerHost {
  #handle: Handler['handle'] = () => undefined;
  #close: () => unknown = () => undefined;
  #current: InsideContext | null = null;

  constructor(
    private readonly settings: InsideSettings,
    private readonly line: Line,
  ) {}

  async start(): Promise<void> {
    this.line.listen((message) => this.#receive(message));
    try {
      this.#use((await import(this.settings.module)) as HandlerModule);
    } catch (error) {
      const message = failureText(error, this.settings.limits.errorMessage);
      return this.line.send({ kind: 'broken', message, stack: stackOf(error) });
    }
    this.line.send({ kind: 'loaded' });
  }

  #use(module: HandlerModule): void {
    const exported = [module, module.default, (module.default as HandlerModule | undefined)?.default].map(asHandler);
    const handler = exported.find((candidate) => candidate !== null);
    if (!handler) throw new Error(`the module exports no function 'handle'`);
    this.#handle = (job, ctx) => handler.handle(job, ctx);
    this.#close = () => handler.close?.();
  }

  #receive(message: ToInside): void {
    switch (message.kind) {
      case 'run':
        return void this.#run(message);
      case 'abort':
        return this.#current?.abort(message.reason);
      case 'close':
        return void this.#end();
    }
  }

  async #run({ job, payload, attempt }: ToInside & { kind: 'run' }): Promise<void> {
    const { limits } = this.settings;
    const ctx = (this.#current = new InsideContext(job.epoch, attempt, this.line, limits));
    let outcome;
    try {
      const view = { ...job, payload: parsedPayload(payload) };
      this.line.enter();
      const value = await this.#handle(view, ctx);
      outcome = returned(value, ctx.finish(), limits);
    } catch (error) {
      outcome = threw(error, ctx.finish(), limits);
    }
    this.#current = null;
    this.line.send(outcome);
  }

  async #end(): Promise<void> {
    try {
      await this.#close();
    } finally {
      exit(0);
    }
  }
}

function asHandler(exported: unknown): { handle: Handler['handle']; close?: () => unknown } | null {
  if (typeof exported === 'function') return { handle: exported as Handler['handle'] };
  if (typeof exported !== 'object' || exported === null) return null;
  const candidate = exported as HandlerModule;
  return typeof candidate.handle === 'function' ? (candidate as { handle: Handler['handle'] }) : null;
}

function parsedPayload(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch (cause) {
    throw new Error('the payload is not JSON', { cause });
  }
}
