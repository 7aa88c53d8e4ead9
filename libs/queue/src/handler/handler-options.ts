import { InvalidArgumentError, LIMITS, QUEUE_PATTERN } from '@orchd/storage';
import { RUN_IN, type HandlerOptions } from './handler.js';

const MAX_MEGABYTES = 1024 * 1024;
const KNOWN: Readonly<Record<keyof HandlerOptions, true>> = {
  queue: true,
  runIn: true,
  heartbeatTimeoutMs: true,
  timeoutMs: true,
  maxAttempts: true,
  backoff: true,
  resourceLimits: true,
  recycleAfter: true,
};

/** Throws `invalid_argument` with the name of the first option that is not allowed. */
export function checkHandlerOptions(type: string, options: HandlerOptions): void {
  const { queue, runIn, heartbeatTimeoutMs, timeoutMs, backoff, maxAttempts, resourceLimits, recycleAfter } = options;
  const check = (field: string, value: number | undefined, min: number, max: number = LIMITS.durationMs): void => {
    if (value === undefined || (Number.isSafeInteger(value) && value >= min && value <= max)) return;
    throw new InvalidArgumentError(field, `of '${type}' must be an integer ${min}..${max}`);
  };
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(KNOWN, name));
  if (unknown !== undefined) throw new InvalidArgumentError(unknown, `of '${type}' is no option of a handler`);
  if (queue !== undefined && !QUEUE_PATTERN.test(queue)) {
    throw new InvalidArgumentError('queue', `of '${type}' must match ${QUEUE_PATTERN.source}`);
  }
  if (runIn !== undefined && !RUN_IN.includes(runIn)) {
    throw new InvalidArgumentError('runIn', `of '${type}' must be one of ${RUN_IN.join(', ')}`);
  }
  check('heartbeatTimeoutMs', heartbeatTimeoutMs, 1);
  check('timeoutMs', timeoutMs, 0);
  check('backoff.baseMs', backoff?.baseMs, 0);
  check('backoff.capMs', backoff?.capMs, 0);
  check('maxAttempts', maxAttempts, 1, LIMITS.attempts);
  for (const [name, size] of Object.entries(resourceLimits ?? {})) check(`resourceLimits.${name}`, size as number, 1, MAX_MEGABYTES);
  check('recycleAfter', recycleAfter, 0, Number.MAX_SAFE_INTEGER);
}
