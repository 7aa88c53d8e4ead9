import { Client, type Dispatcher } from 'undici';
import type { Answer } from './answer.js';
import type { Target } from './options.js';

export interface Request {
  readonly method: 'GET' | 'POST';
  /** Below the target's prefix, for example `/jobs`. */
  readonly path: string;
  readonly headers: string[] | null;
  readonly body: Buffer | null;
  /** Longest wait for the head of the answer and between two pieces of its body. */
  readonly timeoutMs: number;
}

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * One keep-alive connection to one target, one request at a time; it reconnects by itself at the next request.
 *
 * It speaks to undici's `dispatch` instead of `request`: no stream per answer. The load generator shares its processors
 * with the server that it measures.
 */
export class Connection {
  private readonly client: Client;

  constructor(private readonly target: Target) {
    this.client = new Client(target.origin, { pipelining: 1, connectTimeout: CONNECT_TIMEOUT_MS });
  }

  /**
   * Resolves with a whole answer of any final status. Rejects when none came: not connected, connection lost, too slow,
   * or destroyed. Whether the request was done is then unknown.
   */
  send(request: Request): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.client.dispatch(
        {
          method: request.method,
          path: this.target.prefix + request.path,
          headers: request.headers,
          body: request.body,
          headersTimeout: request.timeoutMs,
          bodyTimeout: request.timeoutMs,
        },
        new Exchange(resolve, reject),
      );
    });
  }

  /** Ends the connection now; a request in flight rejects. */
  destroy(): void {
    // Nothing is left to be told: the request in flight, if any, has heard of it through its own rejection.
    this.client.destroy().catch(() => undefined);
  }
}

class Exchange implements Dispatcher.DispatchHandler {
  private status = 0;
  private retryAfter: string | undefined;
  private chunks: Buffer[] = [];

  constructor(
    private readonly resolve: (answer: Answer) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  onRequestStart(): void {
    this.chunks = [];
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.status = status;
    const retryAfter = headers['retry-after'];
    this.retryAfter = typeof retryAfter === 'string' ? retryAfter : undefined;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first] = this.chunks;
    const whole = this.chunks.length === 1 && first ? first : Buffer.concat(this.chunks);
    this.resolve({ status: this.status, retryAfter: this.retryAfter, body: whole.toString('utf8') });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.reject(error);
  }
}
