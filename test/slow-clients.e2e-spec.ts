import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { JobClient, Ledger, LedgerClient, listAll, RawSocket, SeenJobs, ServiceFixture, statsOf } from './harness/index.js';
import { Probe } from './harness/probe.js';

const MIB = 1024 * 1024;
const UPLOAD_MIB = 100;
const orchd = new ServiceFixture();

/** Sends a body in chunks that never says how long it is, until the server answers or has taken all. */
async function upload(port: number, path: string): Promise<{ received: string; sentMib: number }> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  const closed = once(socket, 'close');
  let received = '';
  socket.on('data', (text: string) => (received += text)).on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const chunk = Buffer.from(`${(MIB / 4).toString(16)}\r\n${'x'.repeat(MIB / 4)}\r\n`);
  let sentMib = 0;
  for (; sentMib < UPLOAD_MIB && received === '' && !socket.destroyed; sentMib += 1 / 4) {
    if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), closed]);
  }
  if (received === '') await Promise.race([once(socket, 'data'), closed]);
  socket.destroy();
  await closed;
  return { received, sentMib };
}

describe('an upload of 100 MiB that does not say how large it is', () => {
  it.each([
    ['/jobs', 1],
    ['/jobs/batch', 16],
  ])('to %s is answered 413 early, and its bytes are not kept', async (path, limitMib) => {
    const service = await orchd.start({ storage: 'memory' });
    await upload(service.port, path);
    const before = service.peakMib;
    for (let n = 0; n < 5; n++) {
      const { received, sentMib } = await upload(service.port, path);
      expect(received).toMatch(/^HTTP\/1\.1 413 /);
      // What lies in the buffers of both sockets has been sent and not been read.
      expect(sentMib).toBeLessThan(limitMib + UPLOAD_MIB / 4);
    }
    expect(service.peakMib - before).toBeLessThan(UPLOAD_MIB / 2);
  });
});

describe('an upload that a shutdown overtakes', () => {
  it('is refused, and what is refused is not there', async () => {
    const dataDir = orchd.folder();
    const service = await orchd.start({ dataDir, flags: ['--shutdown-grace-ms', '60000'] });
    const jobs = new JobClient(service);
    const running = await jobs.accepted({ work_ms: 600_000 });
    await jobs.reached(running, 'active');
    const body = '{"id":"late","work_ms":1}';
    const socket = await RawSocket.open(service.port);
    socket.send(
      `POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`,
    );
    await service.call('GET', '/healthz');

    service.signal('SIGTERM');
    await service.logged(({ msg }) => msg.includes('shutting down'));
    socket.send(body.slice(9));
    expect(await socket.responses(1)).toMatch(/^HTTP\/1\.1 503 [^]*"draining"/);
    socket.destroy();
    expect((await service.call('DELETE', `/jobs/${running}`)).status).toBe(202);
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect((await listAll(await orchd.start({ dataDir, flags: ['--role', 'api'] }))).map(({ id }) => id)).toEqual([running]);
  });
});

describe('a thousand clients that come back at once after a crash', () => {
  it('are all served, while probes are answered and no worker is taken for hung', async () => {
    const dataDir = orchd.folder();
    const clients = 1000;
    const first = await orchd.start({ dataDir });
    const { port } = first;
    const jobs = new JobClient(first);
    const running = await Promise.all(Array.from({ length: 8 }, () => jobs.accepted({ work_ms: 5000, max_requeues: 1 })));
    for (const id of running) await jobs.reached(id, 'active');
    await first.kill();

    const [ledger, seen] = [new Ledger('herd'), new SeenJobs()];
    const service = await orchd.launch({ dataDir, port }).listening();
    const liveness = new Probe(port, '/healthz');
    const client = new LedgerClient(port, ledger, seen);
    const ready = service.ready();
    await Promise.all(
      Array.from({ length: clients }, async () => {
        const [submission] = (await client.submit({ work_ms: 1 })).submissions;
        // As Retry-After asks them to, they do not come back at once.
        while (submission!.standing !== 'acked') {
          await ready;
          await client.repeat(submission!);
        }
      }),
    );
    for (const id of running) expect(await new JobClient(service).reached(id, 'done')).toMatchObject({ requeues: 1 });
    await liveness.stop();
    expect(client.surprises).toEqual([]);
    expect(new Set(liveness.statuses)).toEqual(new Set([200]));
    expect(await statsOf(service)).toMatchObject({ done: clients + running.length, requeued: 0, workers: { replaced: 0 } });
  });
});
