import { HttpException } from '@nestjs/common';
import { InvalidArgumentError, OrchdError } from '@orchd/storage';
import { ERROR_STATUS, RETRY_AFTER_S, type HttpErrorCode } from './error-status.js';
import { HttpProblem } from './http-problem.js';

/** The one shape of an error body. */
export interface ErrorBody {
  readonly statusCode: number;
  readonly code: HttpErrorCode;
  readonly message: string;
  readonly fields?: Readonly<Record<string, string>>;
}

export interface ErrorAnswer {
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a client is told about an error. What is unknown becomes `internal`, without its message: the log has it. */
export function errorAnswer(error: unknown): ErrorAnswer {
  if (error instanceof HttpProblem) return answer(error.code, error.message, error.details.fields, error.details.headers);
  if (error instanceof InvalidArgumentError) {
    const field = snakeCase(error.field);
    const problem = error.message.slice(error.field.length + 2);
    return answer(error.code, `${field}: ${problem}`, { [field]: problem });
  }
  if (error instanceof OrchdError) return answer(error.code, error.message);
  return frameworkAnswer(error);
}

const FRAMEWORK_CODES = new Map<number, [HttpErrorCode, string]>([
  [400, ['malformed_request', 'the request is malformed']],
  [404, ['not_found', 'there is nothing at this address']],
  [408, ['request_timeout', 'the request took too long']],
  [413, ['payload_too_large', 'the body is too large']],
  [414, ['uri_too_long', 'the address is too long']],
  [415, ['unsupported_media_type', 'the content type must be application/json']],
  [431, ['headers_too_large', 'the header fields are too large']],
]);

/** Nest and Fastify refuse by status; their texts name their own parts, so they are not passed on. */
function frameworkAnswer(error: unknown): ErrorAnswer {
  const status = error instanceof HttpException ? error.getStatus() : (error as { statusCode?: unknown } | null)?.statusCode;
  const [code, message] = FRAMEWORK_CODES.get(Number(status)) ?? ['internal', 'internal error'];
  return answer(code, message);
}

function answer(code: HttpErrorCode, message: string, fields?: ErrorBody['fields'], headers: ErrorAnswer['headers'] = {}): ErrorAnswer {
  const statusCode = ERROR_STATUS[code];
  return {
    body: fields ? { statusCode, code, message, fields } : { statusCode, code, message },
    headers: statusCode === 503 ? { 'retry-after': String(RETRY_AFTER_S), ...headers } : headers,
  };
}

/** `backoff.baseMs` -> `backoff.base_ms`. */
function snakeCase(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
