import { InvalidArgumentError, TYPE_PATTERN } from '@orchd/storage';
import { checkHandlerOptions } from './handler-options.js';
import type { Handler, HandlerOptions, RunIn } from './handler.js';

export interface RegisteredHandler {
  readonly type: string;
  /** What runs: an object in this process, or a module file in a thread or a process of its own. */
  readonly target: Handler | URL;
  readonly runIn: RunIn;
  readonly options: HandlerOptions;
}

/** The handlers of this process, one per job type. Nest classes with `@JobHandler` are put here at start; others call `register`. */
export class HandlerRegistry {
  readonly #handlers = new Map<string, RegisteredHandler>();

  /**
   * @param handler an object or a function, which runs inline; or the `file:` URL of a module that exports one (see
   * `HandlerModuleExports`), which runs in a thread, or in a process if the options say so
   *
   * Throws `invalid_argument`: a second handler for the type, or an option that is not allowed, by name.
   */
  register<P, R>(type: string, handler: Handler<P, R> | Handler<P, R>['handle'] | URL, options: HandlerOptions = {}): void {
    if (!TYPE_PATTERN.test(type)) throw new InvalidArgumentError('type', `must match ${TYPE_PATTERN.source}`);
    if (this.#handlers.has(type)) throw new InvalidArgumentError('type', `'${type}' has a handler already`);
    checkHandlerOptions(type, options);
    const target = typeof handler === 'function' ? { handle: handler } : handler;
    const inModule = isUrl(target);
    const { runIn = inModule ? 'thread' : 'inline' } = options;
    if (inModule) checkModule(type, target, runIn);
    else checkObject(type, target, runIn);
    this.#handlers.set(type, { type, target, runIn, options });
  }

  get(type: string): RegisteredHandler | undefined {
    return this.#handlers.get(type);
  }

  all(): Iterable<RegisteredHandler> {
    return this.#handlers.values();
  }
}

/** By its looks: a test runner's global `URL` may be another class than Node's. */
function isUrl(target: unknown): target is URL {
  return typeof target === 'object' && target !== null && typeof (target as URL).href === 'string' && 'protocol' in target;
}

function checkModule(type: string, { protocol }: URL, runIn: RunIn): void {
  if (protocol !== 'file:') throw new InvalidArgumentError('module', `of '${type}' must be a file: URL`);
  if (runIn === 'inline')
    throw new InvalidArgumentError('runIn', `of '${type}' must be 'thread' or 'process': its handler is a module file`);
}

function checkObject(type: string, target: Handler | null | undefined, runIn: RunIn): void {
  if (runIn !== 'inline') {
    throw new InvalidArgumentError('runIn', `of '${type}': '${runIn}' needs the URL of a module file, an object cannot leave its thread`);
  }
  if (typeof target?.handle !== 'function') throw new InvalidArgumentError('handler', `of '${type}' must have a method handle(job, ctx)`);
}
