import { beforeAll, describe, expect, it } from '@jest/globals';
import { RawSocket, ServiceFixture, type ServiceProcess } from './harness/index.js';

const orchd = new ServiceFixture('file');
let service: ServiceProcess;

beforeAll(async () => {
  service = await orchd.start({ storage: 'memory' });
});

/** The answer to these bytes, up to the end of the connection. */
async function said(bytes: string): Promise<string> {
  const socket = await RawSocket.open(service.port);
  socket.send(bytes);
  await socket.closed;
  return socket.received;
}

function expectError(answer: string, status: number, code: string): void {
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toEqual({ statusCode: status, code, message: expect.any(String) });
}

const JOB = '{"work_ms":1}';
const POST = `POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${JOB.length}\r\n\r\n${JOB}`;

describe('what is not HTTP', () => {
  it.each([
    'nonsense\r\n\r\n',
    'GET /jobs HTTP/9.9\r\n\r\n',
    'GET  HTTP/1.1\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
  ])('is answered 400 and the connection closed: %j', async (bytes) => {
    expectError(await said(bytes), 400, 'malformed_request');
  });

  it('is answered 400 when it would smuggle a second request', async () => {
    const both = 'POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    expectError(await said(both), 400, 'malformed_request');
  });
});

describe('what HTTP does not allow', () => {
  it.each([
    ['a request without Host', 'GET /stats HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'malformed_request'],
    ['an unknown expectation', 'GET /stats HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\n\r\n', 417, 'expectation_failed'],
  ])('%s is refused in the shape of all errors', async (_what, bytes, status, code) => {
    const answer = await said(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain(`"statusCode":${status},"code":"${code}"`);
  });
});

describe('header fields and addresses beyond 16 KiB', () => {
  it.each([
    ['a field', `GET /stats HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['many fields', `GET /stats HTTP/1.1\r\nHost: x\r\n${'X-Many: a\r\n'.repeat(3000)}\r\n`],
    ['an address', `GET /jobs/${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ])('%s: 431 and the connection closed', async (_what, bytes) => {
    expectError(await said(bytes), 431, 'headers_too_large');
  });
});

describe('a connection', () => {
  it('may carry pipelined requests; they are answered in order', async () => {
    const socket = await RawSocket.open(service.port);
    socket.send(`${POST}GET /nope HTTP/1.1\r\nHost: x\r\n\r\n${POST}`);
    const answers = await socket.responses(3);
    expect([...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status)).toEqual(['201', '404', '201']);
    socket.destroy();
  });

  it('is asked for the body it announced with Expect', async () => {
    const socket = await RawSocket.open(service.port);
    socket.send(POST.replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n'));
    expect(await socket.responses(2)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
    socket.destroy();
  });

  it('that is dropped in the middle of a request takes nothing with it', async () => {
    for (const part of [POST.slice(0, 20), POST.slice(0, -3), POST]) {
      const socket = await RawSocket.open(service.port);
      socket.send(part);
      socket.destroy();
      await socket.closed;
    }
    expect((await service.call('GET', '/healthz')).status).toBe(200);
    expect(service.log.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  });
});

describe('clients that trickle their bytes', () => {
  it('lose their sockets, and others are served meanwhile', async () => {
    const sockets = await Promise.all(Array.from({ length: 100 }, () => RawSocket.open(service.port)));
    const [silent, headers, bodies] = [sockets.slice(0, 10), sockets.slice(10, 55), sockets.slice(55)];
    for (const socket of headers) socket.send('POST /jobs HTTP/1.1\r\nHost: x\r\n');
    for (const socket of bodies) socket.send(POST.replace(/Content-Length: \d+/, 'Content-Length: 1000'));
    const trickle = setInterval(() => {
      for (const socket of headers) socket.send('X-A: b\r\n');
      for (const socket of bodies) socket.send(' ');
    }, 500);
    try {
      expect((await service.post('/jobs', { work_ms: 1 })).status).toBe(201);
      await Promise.all([...silent, ...headers].map(({ closed }) => closed));
      expect((await service.post('/jobs', { work_ms: 1 })).status).toBe(201);
      await Promise.all(bodies.map(({ closed }) => closed));
    } finally {
      clearInterval(trickle);
      for (const socket of sockets) socket.destroy();
    }
    for (const { received } of [...headers, ...bodies]) expect(received).toMatch(/^HTTP\/1\.1 408 /);
  }, 60_000);
});
