import { request, type Agent, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';

export interface CallOptions {
  /** Sent as JSON, with its content type. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly agent?: Agent;
}

export interface Answer<T = unknown> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON; the text where it is none. */
  readonly body: T;
}

/** One request over a connection of its own, so that nothing is kept open. Rejects when the connection breaks. */
export function call<T>(port: number, method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
  const { json, headers = {}, agent } = options;
  const body = json === undefined ? options.body : JSON.stringify(json);
  const sent = {
    ...(json !== undefined && { 'content-type': 'application/json' }),
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers: sent, agent: agent ?? false }, (response) => {
      text(response).then((received) => {
        resolve({ status: response.statusCode!, headers: response.headers, body: parsed(received) as T });
      }, reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function parsed(received: string): unknown {
  try {
    return JSON.parse(received);
  } catch {
    return received;
  }
}
