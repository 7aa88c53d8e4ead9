import type { FieldProblems } from '../dto/dto-reader.js';
import { ERROR_STATUS, type HttpErrorCode } from './error-status.js';

/** A refusal that HTTP itself makes, before any other part is asked. */
export class HttpProblem extends Error {
  readonly statusCode: number;

  constructor(
    readonly code: HttpErrorCode,
    message: string,
    readonly details: { readonly fields?: Readonly<Record<string, string>>; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.statusCode = ERROR_STATUS[code];
  }
}

/** An answer lists no more problems than this: a batch may have 10,000 of them. */
const MOST_PROBLEMS_SHOWN = 50;

export function invalidFields(problems: FieldProblems): HttpProblem {
  const shown = [...problems].slice(0, MOST_PROBLEMS_SHOWN);
  const [[name, problem] = ['', '']] = shown;
  const more = problems.size > 1 ? ` (and ${problems.size - 1} more)` : '';
  return new HttpProblem('invalid_argument', `${name}: ${problem}${more}`, { fields: Object.fromEntries(shown) });
}

export function invalidField(name: string, problem: string): HttpProblem {
  return invalidFields(new Map([[name, problem]]));
}
