import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { JobClient, ServiceFixture, type ServiceProcess } from './harness/index.js';

const orchd = new ServiceFixture();
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

interface Seen {
  readonly method: string | undefined;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** A server somewhere; `answer` gets the number of the request. */
async function target(answer: (n: number, response: ServerResponse, request: IncomingMessage) => void) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      seen.push({ method: request.method, authorization: request.headers.authorization, body });
      answer(seen.length, response, request);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { host, url: `http://${host}/`, seen };
}

async function run(service: ServiceProcess, payload: object, state: 'done' | 'dead' = 'done') {
  const { body } = await service.post('/jobs', { type: 'http', payload, max_attempts: 3 });
  return new JobClient(service).reached((body as { id: string }).id, state);
}

describe('a job of type http', () => {
  it('sends its request and keeps the answer; another status is another attempt', async () => {
    const server = await target((n, response) => response.writeHead(n === 1 ? 500 : 201).end('thanks'));
    const service = await orchd.start({ flags: ['--http-allow', server.host] });
    const job = await run(service, { method: 'POST', url: server.url, headers: { Authorization: 'me' }, body: { a: 1 } });
    expect(job).toMatchObject({ attempts: 1, result: { status: 201, body: 'thanks' } });
    expect(server.seen).toEqual(Array(2).fill({ method: 'POST', authorization: 'me', body: '{"a":1}' }));
  });

  it('waits as long as Retry-After says, and is charged no attempt for it', async () => {
    const server = await target((n, response) => response.writeHead(n === 1 ? 503 : 200, { 'retry-after': '1' }).end());
    const service = await orchd.start({ flags: ['--http-allow', server.host] });
    expect(await run(service, { url: server.url })).toMatchObject({ attempts: 0, releases: 1, starts: 2 });
  });

  it.each(['1.5', '-5', 'soon', 'Sun Nov 6'])('takes a Retry-After that says nothing (%s) for a failed attempt', async (retryAfter) => {
    const server = await target((_, response) => response.writeHead(503, { 'retry-after': retryAfter }).end());
    const service = await orchd.start({ flags: ['--http-allow', server.host] });
    expect(await run(service, { url: server.url }, 'dead')).toMatchObject({ attempts: 3, releases: 0, starts: 3 });
  });

  it.each(['0', 'Thu, 01 Jan 1970 00:00:00 GMT'])('waits a second where Retry-After says at once (%s)', async (retryAfter) => {
    const server = await target((n, response) => response.writeHead(n === 1 ? 503 : 200, { 'retry-after': retryAfter }).end());
    const service = await orchd.start({ flags: ['--http-allow', server.host] });
    const job = await run(service, { url: server.url });
    expect(job).toMatchObject({ attempts: 0, releases: 1, starts: 2 });
    expect(Number(job.finished_at) - Number(job.created_at)).toBeGreaterThanOrEqual(1000);
  });

  it('is not taken for hung while a slow answer is on its way, but ended by its own time limit', async () => {
    const server = await target((n, response) => void (n === 1 && setTimeout(() => response.end('late'), 1000)));
    const service = await orchd.start({ flags: ['--http-allow', server.host, '--hb-timeout-ms', '100'] });
    expect(await run(service, { url: server.url })).toMatchObject({ requeues: 0, starts: 1, result: { body: 'late' } });
    const cut = await run(service, { url: server.url, timeout_ms: 50 }, 'dead');
    expect(cut).toMatchObject({ attempts: 3, requeues: 0, error: { code: 'failed', message: 'no whole answer within 50 ms' } });
  });

  it('follows a redirect to another allowed host, without the credentials; one that is not allowed is refused at once', async () => {
    const end = await target((_, response) => response.end('there'));
    const start = await target((_, response) => response.writeHead(302, { location: end.url }).end());
    const request = { method: 'POST', url: start.url, headers: { authorization: 'me' }, body: 'text' };

    const both = await orchd.start({ flags: ['--http-allow', `${start.host},${end.host}`] });
    expect(await run(both, request)).toMatchObject({ result: { body: 'there' } });
    expect(end.seen).toEqual([{ method: 'GET', authorization: undefined, body: '' }]);

    const one = await orchd.start({ flags: ['--http-allow', start.host] });
    expect(await run(one, request, 'dead')).toMatchObject({ error: { code: 'discarded' }, starts: 1 });
    expect(end.seen).toHaveLength(1);
  });

  it('may speak to nobody unless it is said, and to the metadata of a cloud never', async () => {
    const server = await target((_, response) => response.end());
    const service = await orchd.start({ flags: ['--http-allow', '169.254.169.254,example.org'] });
    for (const url of [server.url, 'http://169.254.169.254/']) {
      expect(await run(service, { url }, 'dead')).toMatchObject({ error: { code: 'discarded' }, starts: 1 });
    }
    expect(server.seen).toEqual([]);
  });

  it('is refused with the field that is wrong', async () => {
    const service = await orchd.start({ storage: 'memory' });
    for (const [field, payload] of [
      ['payload', undefined],
      ['payload', []],
      ['payload.url', {}],
      ['payload.url', { url: 1 }],
      ['payload.url', { url: 'nonsense' }],
      ['payload.url', { url: 'file:///etc/passwd' }],
      ['payload.method', { url: 'http://a/', method: 'TRACE' }],
      ['payload.headers', { url: 'http://a/', headers: { host: 'b' } }],
      ['payload.headers', { url: 'http://a/', headers: { 'x y': 'b' } }],
      ['payload.timeout_ms', { url: 'http://a/', timeout_ms: -1 }],
      ['payload.uri', { url: 'http://a/', uri: 'x' }],
    ] as const) {
      const answer = await service.post('/jobs', { type: 'http', payload });
      expect([payload, answer]).toMatchObject([payload, { status: 400, body: { fields: { [field]: expect.any(String) } } }]);
    }
  });
});
