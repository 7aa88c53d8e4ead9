import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServicePhase } from '../life-cycle/service-phase.js';
import { errorAnswer } from './errors/error-answer.js';
import type { HttpErrorCode } from './errors/error-status.js';
import { HttpProblem } from './errors/http-problem.js';
import { acceptOnlyJson } from './json-body.js';
import { KnownRoutes } from './known-routes.js';
import { isProbe, RequestGate } from './request-gate.js';
import { RequestTurns } from './request-turns.js';

const MIB = 1024 * 1024;
const BODY_LIMIT = MIB;
const BATCH_ROUTE = '/jobs/batch';
const BATCH_BODY_LIMIT = 16 * MIB;

/** A client that trickles its bytes loses its socket after these (case F01); one that waits for a slow disk does not. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const TIMEOUT_CHECK_MS = 1000;
/** Longer than the idle time of common load balancers, so that they close first and never meet a closing socket. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Not less than a URL may have: an over-long id is then a bad id (400), not an unknown address. */
const MAX_PARAM_LENGTH = 16 * 1024;
/** Requests still being read when the server closes get this long; then their sockets are cut. */
const CLOSE_GRACE_MS = 1000;

export function createHttpAdapter(phase: ServicePhase): FastifyAdapter {
  const adapter = new FastifyAdapter({
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // The gate asks for the Host, for Node would refuse without a body.
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: TIMEOUT_CHECK_MS, requireHostHeader: false },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // No Nest middleware is used; its engine would cost each request a walk through it.
    skipMiddie: true,
    clientErrorHandler: answerClientError,
    frameworkErrors: (error: Error, _request: FastifyRequest, reply: FastifyReply) => {
      const { body, headers } = errorAnswer(error);
      void reply.status(body.statusCode).headers(headers).send(body);
    },
  });
  const server = adapter.getInstance<FastifyInstance>();
  acceptOnlyJson(server);
  guard(server, phase);
  refuseExpectations(server);
  closeInTime(server);
  return adapter;
}

function guard(server: FastifyInstance, phase: ServicePhase): void {
  const routes = new KnownRoutes();
  const gate = new RequestGate(phase, routes);
  server.addHook('onRoute', (route) => {
    routes.add(route.method, route.url);
    if (route.url === BATCH_ROUTE) route.bodyLimit = BATCH_BODY_LIMIT;
  });
  const turns = new RequestTurns();
  server.addHook('onRequest', (request, reply, done) => {
    const refusal = gate.refusal(request, reply);
    if (refusal === null && (request.method === 'POST' || !isProbe(request))) turns.take(done);
    else done(refusal ?? undefined);
  });
}

/** `Expect: 100-continue` is Node's to answer; what else a client may expect, nobody here can do. */
function refuseExpectations(server: FastifyInstance): void {
  server.server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { body } = errorAnswer(new HttpProblem('expectation_failed', 'only 100-continue can be expected'));
    response.writeHead(body.statusCode, { 'content-type': 'application/json; charset=utf-8', connection: 'close' });
    response.end(JSON.stringify(body));
  });
}

/** Closing waits for the requests in flight, and a slow upload would make it wait for its client. */
function closeInTime(server: FastifyInstance): void {
  server.addHook('preClose', (done) => {
    setTimeout(() => server.server.closeAllConnections(), CLOSE_GRACE_MS).unref();
    done();
  });
}

const CLIENT_ERRORS: Readonly<Record<string, [HttpErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'the header fields are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'the request took too long'],
};

/** What Node's parser refuses never becomes a request; it is answered by hand, in the same shape. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const [code, message] = CLIENT_ERRORS[error.code ?? ''] ?? ['malformed_request', 'the request is not valid HTTP'];
  const { body } = errorAnswer(new HttpProblem(code, message));
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${body.statusCode} ${STATUS_CODES[body.statusCode]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ];
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${text}`);
  socket.destroySoon();
}
