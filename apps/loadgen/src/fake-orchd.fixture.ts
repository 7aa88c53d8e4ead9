import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';

export interface FakeJob {
  id: string;
  state: string;
  attempts: number;
  requeues: number;
  max_requeues: number;
}

export interface Submit {
  readonly key: string;
  readonly body: string;
  /** Counts the submits of this queue, repetitions included, from 1. */
  readonly call: number;
}

/** What a server does instead of its work. */
export type Fault =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  /** The connection ends in the middle of an answer; a submit has been stored. */
  | 'cut'
  /** The connection ends without an answer; nothing has been stored. */
  | 'reset'
  /** No answer, for as long as the client waits. */
  | 'silence';

type Hook<Call> = (call: Call) => Fault | undefined | Promise<Fault | undefined>;

/** The queue behind one or more fake servers. What is written here is what its jobs become. */
export class FakeQueue {
  readonly jobs = new Map<string, FakeJob>();
  readonly submits: Submit[] = [];
  /** Decides on the n-th new job, counted from 0. */
  outcome: (n: number) => Partial<FakeJob> = () => ({});
  private readonly byKey = new Map<string, FakeJob>();

  enqueue(key: string): { job: FakeJob; fresh: boolean } {
    const known = this.byKey.get(key);
    if (known) return { job: known, fresh: false };
    const n = this.byKey.size;
    const job = { id: `job-${n}`, state: 'done', attempts: 0, requeues: 0, max_requeues: 10, ...this.outcome(n) };
    this.byKey.set(key, job);
    this.jobs.set(job.id, job);
    return { job, fresh: true };
  }

  count(state: string): number {
    return [...this.jobs.values()].filter((job) => job.state === state).length;
  }
}

/** One scripted server over real sockets, on a port that it keeps when it is started again. */
export class FakeServer {
  onSubmit: Hook<Submit> = () => undefined;
  onRead: Hook<{ id: string; call: number }> = () => undefined;
  onStats: Hook<{ call: number }> = () => undefined;
  readonly answered = { submits: 0, reads: 0, stats: 0 };
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();
  private readonly calls = { reads: 0, stats: 0 };
  private port = 0;

  constructor(private readonly queue: FakeQueue) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<this> {
    const server = createServer((request, response) => void this.serve(request, response));
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
    return this;
  }

  /** As kill -9 does it: every connection ends at once, answers under way are lost. */
  async kill(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (!server) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of this.sockets) socket.resetAndDestroy();
    await closed;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? '';
    if (request.method === 'POST' && url === '/jobs') await this.submit(request, response);
    else if (url.startsWith('/jobs/')) await this.read(url.slice('/jobs/'.length), response);
    else if (url === '/stats') await this.stats(response);
    else answer(response, 404, { statusCode: 404, code: 'not_found', message: `no route ${url}` });
  }

  private async submit(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = String(request.headers['idempotency-key']);
    const submit = { key, body: await text(request), call: this.queue.submits.length + 1 };
    this.queue.submits.push(submit);
    const fault = await this.onSubmit(submit);
    if (fault === undefined || fault === 'cut') {
      const { job, fresh } = this.queue.enqueue(key);
      if (fault === undefined) {
        this.answered.submits++;
        answer(response, fresh ? 201 : 200, { id: job.id, state: job.state, queue: 'default', type: 'simulated' });
        return;
      }
    }
    fail(response, fault);
  }

  private async read(id: string, response: ServerResponse): Promise<void> {
    const fault = await this.onRead({ id, call: ++this.calls.reads });
    if (fault !== undefined) return fail(response, fault);
    this.answered.reads++;
    const job = this.queue.jobs.get(id);
    if (job) answer(response, 200, job);
    else answer(response, 404, { statusCode: 404, code: 'not_found', message: `no job ${id}` });
  }

  private async stats(response: ServerResponse): Promise<void> {
    const fault = await this.onStats({ call: ++this.calls.stats });
    if (fault !== undefined) return fail(response, fault);
    this.answered.stats++;
    const { queue } = this;
    answer(response, 200, { ready: queue.count('ready'), delayed: queue.count('delayed'), active: queue.count('active') });
  }
}

function answer(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function fail(response: ServerResponse, fault: Fault): void {
  if (fault === 'silence') return;
  if (fault === 'reset') response.socket?.resetAndDestroy();
  else if (fault === 'cut') {
    response.writeHead(201, { 'content-length': '1000' });
    response.write('{"id":', () => response.socket?.destroy());
  } else answer(response, fault.status, fault.body ?? {}, fault.headers);
}
