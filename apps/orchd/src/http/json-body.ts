import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HttpProblem } from './errors/http-problem.js';

type Done = (error: Error | null, body?: unknown) => void;

/**
 * The only bodies that are read are `application/json` in UTF-8. An empty one is no body: many clients send the content type with every
 * request. Keys that would reach a prototype (`__proto__`) are refused at any depth.
 */
export function acceptOnlyJson(server: FastifyInstance): void {
  const parse = server.getDefaultJsonParser('error', 'error') as (request: FastifyRequest, text: string, done: Done) => void;
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request: FastifyRequest, body: Buffer, done: Done) => {
    if (body.length === 0) return done(null);
    if (!isUtf8(body)) return done(malformed('must be UTF-8'));
    parse(request, body.toString(), (error, value) =>
      error ? done(malformed('must be valid JSON, without keys like __proto__')) : done(null, value),
    );
  });
}

function malformed(problem: string): HttpProblem {
  return new HttpProblem('malformed_request', `body: ${problem}`, { fields: { body: problem } });
}
