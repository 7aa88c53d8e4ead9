/**
 * Every failure that crosses a public boundary of orchd carries one of these codes. The codes are stable: callers, HTTP and tests
 * decide by code, never by message. What each one means, and who may see it, is listed in `libs/storage/README.md`.
 */
export type ErrorCode =
  | 'invalid_argument'
  | 'not_open'
  | 'not_found'
  | 'lease_lost'
  | 'conflict'
  | 'already_finished'
  | 'not_dead'
  | 'storage_unavailable'
  | 'storage_full'
  | 'storage_slow'
  | 'storage_busy'
  | 'outcome_unknown'
  | 'storage_locked'
  | 'storage_damaged'
  | 'storage_migrated'
  | 'starting'
  | 'draining';

export class OrchdError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'OrchdError';
  }
}

/** Bad input: `field` is the name of the offending argument as its sender knows it. */
export class InvalidArgumentError extends OrchdError {
  constructor(
    readonly field: string,
    problem: string,
  ) {
    super('invalid_argument', `${field}: ${problem}`);
  }
}

export function hasCode(error: unknown, code: ErrorCode): error is OrchdError {
  return error instanceof OrchdError && error.code === code;
}
