import { InvalidArgumentError, LIMITS, QUEUE_PATTERN, TYPE_PATTERN } from '@orchd/storage';
import type { Handler, HandlerOptions } from './handler.js';

export interface RegisteredHandler {
  readonly type: string;
  readonly handler: Handler;
  readonly options: HandlerOptions;
}

/** The handlers of this process, one per job type. Nest classes with `@JobHandler` are put here at start; others call `register`. */
export class HandlerRegistry {
  readonly #handlers = new Map<string, RegisteredHandler>();

  /** Throws `invalid_argument`: a second handler for the type, or an option that is not allowed, by name. */
  register<P, R>(type: string, handler: Handler<P, R> | Handler<P, R>['handle'], options: HandlerOptions = {}): void {
    if (!TYPE_PATTERN.test(type)) throw new InvalidArgumentError('type', `must match ${TYPE_PATTERN.source}`);
    if (this.#handlers.has(type)) throw new InvalidArgumentError('type', `'${type}' has a handler already`);
    checkOptions(type, options);
    const object = typeof handler === 'function' ? { handle: handler } : handler;
    if (typeof object?.handle !== 'function') throw new InvalidArgumentError('handler', `of '${type}' must have a method handle(job, ctx)`);
    this.#handlers.set(type, { type, handler: object, options });
  }

  get(type: string): RegisteredHandler | undefined {
    return this.#handlers.get(type);
  }

  all(): Iterable<RegisteredHandler> {
    return this.#handlers.values();
  }
}

function checkOptions(type: string, options: HandlerOptions): void {
  const { queue, runIn = 'inline', heartbeatTimeoutMs, timeoutMs, backoff, maxAttempts } = options;
  const check = (field: string, value: number | undefined, min: number, max: number = LIMITS.durationMs): void => {
    if (value === undefined || (Number.isSafeInteger(value) && value >= min && value <= max)) return;
    throw new InvalidArgumentError(field, `of '${type}' must be an integer ${min}..${max}`);
  };
  if (queue !== undefined && !QUEUE_PATTERN.test(queue)) {
    throw new InvalidArgumentError('queue', `of '${type}' must match ${QUEUE_PATTERN.source}`);
  }
  if (runIn !== 'inline') throw new InvalidArgumentError('runIn', `of '${type}': '${runIn}' is not available, only 'inline'`);
  check('heartbeatTimeoutMs', heartbeatTimeoutMs, 1);
  check('timeoutMs', timeoutMs, 0);
  check('backoff.baseMs', backoff?.baseMs, 0);
  check('backoff.capMs', backoff?.capMs, 0);
  check('maxAttempts', maxAttempts, 1, LIMITS.attempts);
}
