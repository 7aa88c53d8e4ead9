import type { ErrorCode } from '@orchd/storage';

/** Errors that only HTTP has; the others are the codes of the contract. */
export type HttpErrorCode =
  | ErrorCode
  | 'malformed_request'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'payload_too_large'
  | 'uri_too_long'
  | 'unsupported_media_type'
  | 'expectation_failed'
  | 'headers_too_large'
  | 'internal';

/** The one table from what went wrong to what a client is told (R13, R15). Every 503 carries `Retry-After`. */
export const ERROR_STATUS: Readonly<Record<HttpErrorCode, number>> = {
  invalid_argument: 400,
  malformed_request: 400,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  lease_lost: 409,
  already_finished: 409,
  not_dead: 409,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  expectation_failed: 417,
  headers_too_large: 431,
  internal: 500,
  not_open: 503,
  storage_unavailable: 503,
  storage_full: 503,
  storage_slow: 503,
  storage_busy: 503,
  storage_locked: 503,
  storage_damaged: 503,
  storage_migrated: 503,
  outcome_unknown: 503,
  starting: 503,
  draining: 503,
};

export const RETRY_AFTER_S = 1;
