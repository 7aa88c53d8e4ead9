export { DEDUPE_KEY_MAX, ID_PATTERN, QUEUE_PATTERN, TYPE_PATTERN } from './arguments.js';
export { DEFAULT_BACKOFF, backoffDelayMs } from './backoff.js';
export { MAX_TIMER_MS, systemClock, type Clock } from './clock.js';
export { InvalidArgumentError, OrchdError, hasCode, type ErrorCode } from './errors.js';
export * from './job-record.js';
export * from './job-transfer.js';
export { StorageAdapter } from './storage-adapter.js';
export * from './storage-types.js';
