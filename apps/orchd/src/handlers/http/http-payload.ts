import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { OutboundRequest } from './send-request.js';

export interface HttpPayload extends OutboundRequest {
  readonly timeoutMs: number;
}

/** The built-in type whose jobs send a request. */
export const HTTP = 'http';

/** `field` is empty where the payload as a whole is wrong. */
export interface PayloadProblem {
  readonly field: string;
  readonly problem: string;
}

const FIELDS = new Set(['method', 'url', 'headers', 'body', 'timeout_ms']);
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const DEFAULT_TIMEOUT_MS = 30_000;
const LONGEST_TIMEOUT_MS = 3_600_000;
/** Said by the client itself, or the means to smuggle a second request. */
const OWN_HEADERS = /^(host|connection|content-length|transfer-encoding|upgrade|expect|te|trailer|keep-alive|proxy-connection)$/i;

/** The request that a job describes, or what is wrong with it. A body that is no text is sent as JSON. */
export function readHttpPayload(payload: unknown): HttpPayload | PayloadProblem {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    return { field: '', problem: 'must be an object with a url' };
  const unknown = Object.keys(payload).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) return { field: unknown, problem: 'is not a field of this payload' };
  const { method = 'GET', url, headers = {}, body = null, timeout_ms: timeoutMs = DEFAULT_TIMEOUT_MS } = payload as Record<string, unknown>;
  if (typeof method !== 'string' || !METHODS.includes(method)) return { field: 'method', problem: `must be one of ${METHODS.join(', ')}` };
  if (typeof url !== 'string' || !isHttpUrl(url)) return { field: 'url', problem: 'must be an absolute http or https URL' };
  if (!Number.isSafeInteger(timeoutMs) || (timeoutMs as number) < 1 || (timeoutMs as number) > LONGEST_TIMEOUT_MS) {
    return { field: 'timeout_ms', problem: `must be an integer 1..${LONGEST_TIMEOUT_MS}` };
  }
  const named = readHeaders(headers);
  if (typeof named === 'string') return { field: 'headers', problem: named };
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

function isHttpUrl(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
}

/** The headers, or what is wrong with them. */
function readHeaders(headers: unknown): Record<string, string> | string {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return 'must be an object of texts';
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string' || OWN_HEADERS.test(name)) return `must not have ${name}`;
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      return `must not have ${name} with this name or value: HTTP does not allow it`;
    }
  }
  return headers as Record<string, string>;
}
