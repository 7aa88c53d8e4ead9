import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { HttpHost } from '../../config/settings.js';
import { assertAllowed, guardedLookup, OutboundRefusal } from './outbound-rules.js';

export interface OutboundRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** The beginning of the body, as text. */
  readonly body: string;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MOST_REDIRECTS = 5;
/** What is kept of an answer: it becomes the result of the job. */
const BODY_BYTES = 16 * 1024;
/** Belong to the host they were meant for. */
const CREDENTIALS = /^(authorization|cookie|proxy-authorization)$/i;

/** Sends a request and follows redirects, each checked as if it had been asked for. Rejects `OutboundRefusal`, or with what went wrong. */
export async function sendRequest(first: OutboundRequest, allowed: readonly HttpHost[], signal: AbortSignal): Promise<Answer> {
  let request = first;
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    assertAllowed(request.url, allowed);
    const message = await exchange(request, signal);
    const { statusCode: status = 0, headers } = message;
    if (!REDIRECTS.has(status) || headers.location === undefined) {
      return { status, retryAfter: headers['retry-after'], body: await beginning(message) };
    }
    message.destroy();
    request = redirected(request, status, headers.location);
  }
  throw new OutboundRefusal(`more than ${MOST_REDIRECTS} redirects`);
}

function exchange({ method, url, headers, body }: OutboundRequest, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const length: OutgoingHttpHeaders = body === null ? {} : { 'content-length': Buffer.byteLength(body) };
    // No agent: a connection that another request has opened would not be looked up again.
    const options = { method, headers: { ...headers, ...length }, signal, agent: false as const, lookup: guardedLookup as never };
    send(url, options, resolve)
      .once('error', reject)
      .end(body ?? undefined);
  });
}

/** As browsers do it: 303, and 301 and 302 after a POST, lead to a GET without body. */
function redirected(request: OutboundRequest, status: number, location: string): OutboundRequest {
  if (!URL.canParse(location, request.url.href)) throw new OutboundRefusal('a redirect leads nowhere');
  const url = new URL(location, request.url);
  const drops = status === 303 || (status < 303 && request.method === 'POST');
  const kept = Object.entries(request.headers).filter(([name]) => {
    if (url.origin !== request.url.origin && CREDENTIALS.test(name)) return false;
    return !(drops && /^content-/i.test(name));
  });
  const headers = Object.fromEntries(kept);
  return drops ? { method: request.method === 'HEAD' ? 'HEAD' : 'GET', url, headers, body: null } : { ...request, url, headers };
}

async function beginning(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= BODY_BYTES) break; // leaving the loop closes the connection
  }
  return Buffer.concat(chunks).subarray(0, BODY_BYTES).toString('utf8');
}
