import { OrchdError } from '@orchd/storage';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServicePhase } from '../life-cycle/service-phase.js';
import { HttpProblem } from './errors/http-problem.js';
import type { KnownRoutes } from './known-routes.js';

/** Probes are answered in every phase: they tell which one it is. */
const PROBES = new Set(['/healthz', '/readyz']);

/**
 * Runs before anything of a request but its headers is read. Safe because a refusal here has touched nothing: `starting` and `draining`
 * mean "not done and never will be" (R15).
 */
export class RequestGate {
  constructor(
    private readonly phase: ServicePhase,
    private readonly routes: KnownRoutes,
  ) {}

  /** The reason to refuse the request, or null. */
  refusal(request: FastifyRequest, reply: FastifyReply): Error | null {
    const phase = this.phase.current;
    if (!namesHost(request)) return new HttpProblem('malformed_request', 'the request must have a Host header');
    // A connection that stays open would hold up the end of the process.
    if (phase === 'draining') reply.raw.shouldKeepAlive = false;
    if (phase === 'starting' && !isProbe(request)) return new OrchdError('starting', 'the service is still starting');
    if (request.is404) return this.#unknown(request);
    if (phase === 'draining' && request.method === 'POST') return new OrchdError('draining', 'the service is shutting down');
    return encodedBody(request) ?? foreignCharset(request) ?? oversizedBody(request);
  }

  #unknown({ url }: FastifyRequest): HttpProblem {
    const allowed = this.routes.allowed(url);
    if (allowed.length === 0) return new HttpProblem('not_found', 'there is nothing at this address');
    const allow = allowed.join(', ');
    return new HttpProblem('method_not_allowed', `this address answers to ${allow}`, { headers: { allow } });
  }
}

/** As RFC 9112 asks of every request of HTTP/1.1. */
function namesHost({ headers, raw }: FastifyRequest): boolean {
  return headers.host !== undefined || raw.httpVersionMinor === 0;
}

export function isProbe({ url }: FastifyRequest): boolean {
  return PROBES.has(url.split('?', 1)[0] ?? '');
}

/** No body is unpacked, so none can unpack to more than the limit. */
function encodedBody({ headers }: FastifyRequest): HttpProblem | null {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return null;
  return new HttpProblem('unsupported_media_type', 'the body must not be encoded (Content-Encoding)');
}

/** What is read is UTF-8, whatever it says to be. */
function foreignCharset({ headers }: FastifyRequest): HttpProblem | null {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(headers['content-type'] ?? '') ?? [];
  if (/^(utf-?8|us-ascii)$/i.test(charset)) return null;
  return new HttpProblem('unsupported_media_type', 'the body must be UTF-8 (Content-Type)');
}

/** Refused before it is read. A body that does not tell its length is refused where it passes the limit. */
function oversizedBody({ headers, routeOptions }: FastifyRequest): HttpProblem | null {
  if (Number(headers['content-length'] ?? 0) <= routeOptions.bodyLimit) return null;
  return new HttpProblem('payload_too_large', `the body must not exceed ${routeOptions.bodyLimit} bytes`);
}
