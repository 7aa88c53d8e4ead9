import { BadRequestException, HttpException, NotFoundException } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { InvalidArgumentError, OrchdError, type ErrorCode } from '@orchd/storage';
import { errorAnswer } from './error-answer.js';
import { ERROR_STATUS, type HttpErrorCode } from './error-status.js';
import { HttpProblem, invalidFields } from './http-problem.js';

describe('an error answer', () => {
  it('names the field of a refused argument as HTTP writes it', () => {
    const { body } = errorAnswer(new InvalidArgumentError('backoff.baseMs', 'must be an integer'));
    expect(body).toEqual({
      statusCode: 400,
      code: 'invalid_argument',
      message: 'backoff.base_ms: must be an integer',
      fields: { 'backoff.base_ms': 'must be an integer' },
    });
  });

  it.each([
    ['not_found', 404],
    ['conflict', 409],
    ['already_finished', 409],
    ['not_dead', 409],
    ['lease_lost', 409],
    ['storage_unavailable', 503],
    ['storage_full', 503],
    ['storage_slow', 503],
    ['storage_busy', 503],
    ['outcome_unknown', 503],
    ['starting', 503],
    ['draining', 503],
    ['not_open', 503],
  ] satisfies [ErrorCode, number][])('for %s has the status %d, and the code in the body', (code, statusCode) => {
    expect(errorAnswer(new OrchdError(code, 'why')).body).toEqual({ statusCode, code, message: 'why' });
  });

  it.each(Object.entries(ERROR_STATUS))('for %s (%d) says when to come back exactly if it is a 503', (code, status) => {
    const { headers } = errorAnswer(new HttpProblem(code as HttpErrorCode, 'why'));
    expect('retry-after' in headers).toBe(status === 503);
  });

  it.each([
    [new NotFoundException('Cannot GET /x'), 404, 'not_found'],
    [new BadRequestException('no'), 400, 'malformed_request'],
    [new HttpException('FST_ERR_CTP_BODY_TOO_LARGE', 413), 413, 'payload_too_large'],
    [new HttpException('FST_ERR_CTP_INVALID_MEDIA_TYPE', 415), 415, 'unsupported_media_type'],
    [Object.assign(new Error('FST_ERR_BAD_URL'), { statusCode: 400 }), 400, 'malformed_request'],
  ])('for a refusal of the framework (%s) has its status and none of its words', (error, statusCode, code) => {
    const { body } = errorAnswer(error);
    expect(body).toMatchObject({ statusCode, code });
    expect(body.message).not.toContain(error.message);
  });

  it.each([
    new Error('secret at /etc'),
    new TypeError('x'),
    'text',
    null,
    undefined,
    0,
    { statusCode: 200 },
    new HttpException('teapot', 418),
  ])('for anything else (%p) is 500 and tells nothing of it', (error) => {
    expect(errorAnswer(error)).toEqual({ body: { statusCode: 500, code: 'internal', message: 'internal error' }, headers: {} });
  });

  it('keeps field names that are names of every object', () => {
    const { body } = errorAnswer(invalidFields(new Map([['__proto__', 'no']])));
    expect(JSON.stringify(body)).toContain('"fields":{"__proto__":"no"}');
    expect(({} as { no?: unknown }).no).toBeUndefined();
  });

  it('lists some of a great many problems and counts the rest', () => {
    const problems = new Map(Array.from({ length: 10_000 }, (_, i) => [`jobs[${i}]`, 'must be a JSON object']));
    const { body } = errorAnswer(invalidFields(problems));
    expect(body.message).toContain('and 9999 more');
    expect(Object.keys(body.fields ?? {})).toHaveLength(50);
  });
});
