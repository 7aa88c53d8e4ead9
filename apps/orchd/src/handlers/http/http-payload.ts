import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { OutboundRequest } from './send-request.js';

export interface HttpPayload extends OutboundRequest {
  readonly timeoutMs: number;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const DEFAULT_TIMEOUT_MS = 30_000;
const LONGEST_TIMEOUT_MS = 3_600_000;
/** Said by the client itself, or the means to smuggle a second request. */
const OWN_HEADERS = /^(host|connection|content-length|transfer-encoding|upgrade|expect|te|trailer|keep-alive|proxy-connection)$/i;

/** The request that a job describes, or what is wrong with it. A body that is no text is sent as JSON. */
export function readHttpPayload(payload: unknown): HttpPayload | string {
  if (typeof payload !== 'object' || payload === null) return 'the payload must be an object with a url';
  const { method = 'GET', url, headers = {}, body = null, timeout_ms: timeoutMs = DEFAULT_TIMEOUT_MS } = payload as Record<string, unknown>;
  if (typeof method !== 'string' || !METHODS.includes(method)) return `method must be one of ${METHODS.join(', ')}`;
  if (typeof url !== 'string' || !URL.canParse(url)) return 'url must be an absolute URL';
  if (!Number.isSafeInteger(timeoutMs) || (timeoutMs as number) < 1 || (timeoutMs as number) > LONGEST_TIMEOUT_MS) {
    return `timeout_ms must be an integer 1..${LONGEST_TIMEOUT_MS}`;
  }
  const named = readHeaders(headers);
  if (typeof named === 'string') return named;
  const isText = typeof body === 'string' || body === null;
  const json: Record<string, string> =
    isText || Object.keys(named).some((name) => /^content-type$/i.test(name)) ? {} : { 'content-type': 'application/json' };
  return {
    method,
    url: new URL(url),
    headers: { ...json, ...named },
    body: isText ? body : JSON.stringify(body),
    timeoutMs: timeoutMs as number,
  };
}

function readHeaders(headers: unknown): Record<string, string> | string {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return 'headers must be an object of texts';
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string' || OWN_HEADERS.test(name)) return `the header ${name} cannot be set`;
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      return `the header ${name} is not allowed by HTTP`;
    }
  }
  return headers as Record<string, string>;
}
