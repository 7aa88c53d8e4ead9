import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { ErrorDto } from './error.dto.js';

const REFUSALS = {
  400: 'A field is wrong; `fields` names it.',
  404: 'There is no such job.',
  409: 'The state of the job, or an earlier request with this key, does not allow it.',
  413: 'The body is too large.',
  415: 'The body is not application/json.',
  503: 'Not now: see `code` and `Retry-After`. After `outcome_unknown` repeat with the same id or key.',
} as const;

/** The errors that a call may answer, all of one shape. */
export function refusals(...statuses: (keyof typeof REFUSALS)[]): MethodDecorator {
  return applyDecorators(...statuses.map((status) => ApiResponse({ status, type: ErrorDto, description: REFUSALS[status] })));
}
