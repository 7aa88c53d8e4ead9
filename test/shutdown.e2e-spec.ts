import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { call, JobClient, RawSocket, ServiceFixture, eventually, type ServiceProcess } from './harness/index.js';

const STOPPED = { code: 0, signal: null };
const orchd = new ServiceFixture();

function draining(service: ServiceProcess): Promise<unknown> {
  return service.logged(({ msg }) => msg.includes('shutting down'));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A service with a job that runs until it is told to stop, and asked to stop. */
async function drainingService(flags: readonly string[] = []): Promise<{ service: ServiceProcess; jobs: JobClient; id: string }> {
  const service = await orchd.start({ flags: ['--shutdown-grace-ms', '60000', ...flags] });
  const jobs = new JobClient(service);
  const id = await jobs.accepted({ work_ms: 600_000 });
  await jobs.reached(id, 'active');
  service.signal('SIGTERM');
  await draining(service);
  return { service, jobs, id };
}

describe('a signal', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('%s ends an idle service with exit code 0', async (signal) => {
    const service = await orchd.start();
    service.signal(signal);
    expect(await service.exited).toEqual(STOPPED);
    expect(service.stderr).toBe('');
  });

  it('ends a service that is only just starting with exit code 0', async () => {
    const service = await orchd.launch().listening();
    expect(await service.stop()).toEqual(STOPPED);
  });

  it('is not lost while the event loop is busy loading the frameworks', async () => {
    // The root module is decorated in the turn in which the service comes to be.
    const source = `const define = Object.defineProperty;
      const signalling = (decorate) => (decorators, target, ...rest) => {
        if (target.name === 'AppModule') {
          process.stdout.write('signal sent\\n');
          process.kill(process.pid, 'SIGTERM');
        }
        return decorate(decorators, target, ...rest);
      };
      Object.defineProperty = (target, key, descriptor) => {
        const isDecorate = target === Reflect && key === 'decorate';
        return define(target, key, isDecorate ? { ...descriptor, value: signalling(descriptor.value) } : descriptor);
      };`;
    const service = orchd.launch({ nodeFlags: ['--import', `data:text/javascript,${encodeURIComponent(source)}`] });
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(service.stdout).toContain('signal sent');
  });

  it('lets running jobs end, well or badly, gives back what does not end in time, and loses nothing', async () => {
    const dataDir = orchd.folder();
    const service = await orchd.start({ dataDir, flags: ['--shutdown-grace-ms', '1500', '--workers', '12'] });
    const jobs = new JobClient(service);
    const accept = (request: object) => Promise.all(Array.from({ length: 4 }, () => jobs.accepted(request)));
    const short = await accept({ work_ms: 500 });
    const failing = await accept({ work_ms: 500, fail_prob: 1, max_attempts: 1 });
    const long = await accept({ work_ms: 600_000 });
    const waiting = await accept({ work_ms: 1, delay_ms: 3_600_000 });
    await Promise.all(
      [...long, ...failing, ...short].map((id) => eventually(`${id} was started`, async () => (await jobs.get(id)).starts)),
    );
    expect(await service.stop()).toEqual(STOPPED);
    expect(service.stdout).toContain('"stopped"');

    const after = new JobClient(await orchd.start({ dataDir, flags: ['--role', 'api'] }));
    for (const id of short) expect(await after.get(id)).toMatchObject({ state: 'done', starts: 1 });
    for (const id of failing) expect(await after.get(id)).toMatchObject({ state: 'dead', attempts: 1 });
    for (const id of long) expect(await after.get(id)).toMatchObject({ state: 'ready', starts: 1, releases: 1, attempts: 0, requeues: 0 });
    for (const id of waiting) expect(await after.get(id)).toMatchObject({ state: 'delayed', starts: 0 });
  });
});

describe('a draining service', () => {
  it('refuses new jobs and redrives with 503 draining and Retry-After, and says so in readiness', async () => {
    const { service, id } = await drainingService();
    for (const path of ['/jobs', '/jobs/batch', `/jobs/${id}/redrive`]) {
      const { status, headers, body } = await service.post(path, { work_ms: 1 });
      expect({ status, body }).toEqual({ status: 503, body: { statusCode: 503, code: 'draining', message: expect.any(String) } });
      expect(headers['retry-after']).toBe('1');
    }
    const { status, body } = await service.call('GET', '/readyz');
    expect(status).toBe(503);
    expect(body).toMatchObject({ status: 'shutting_down', error: { workers: { status: 'down', message: 'draining' } } });
    expect((await service.call('GET', '/healthz')).status).toBe(200);
  });

  it('shows jobs, cancels them, and ends when the last one is cancelled', async () => {
    const { service, jobs, id } = await drainingService();
    expect(await jobs.get(id)).toMatchObject({ state: 'active' });
    expect((await service.call('GET', '/jobs?state=active')).body).toMatchObject({ jobs: [{ id }] });
    expect(await jobs.stats()).toMatchObject({ active: 1 });
    expect((await service.call('DELETE', `/jobs/${id}`)).status).toBe(202);
    expect(await service.exited).toEqual(STOPPED);
  });

  it('closes kept connections with their next answer', async () => {
    const service = await orchd.start({ flags: ['--shutdown-grace-ms', '60000'] });
    const jobs = new JobClient(service);
    await jobs.reached(await jobs.accepted({ work_ms: 600_000 }), 'active');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await service.call('GET', '/healthz', { agent })).headers.connection).toBe('keep-alive');
    service.signal('SIGTERM');
    await draining(service);
    expect((await service.call('GET', '/healthz', { agent })).headers.connection).toBe('close');
    expect((await service.call('GET', '/nope', { agent })).headers.connection).toBe('close');
    agent.destroy();
  });

  it('gives its running jobs back at the second signal', async () => {
    const dataDir = orchd.folder();
    const service = await orchd.start({ dataDir, flags: ['--shutdown-grace-ms', '600000', '--hb-timeout-ms', '600000'] });
    const jobs = new JobClient(service);
    const ids = [await jobs.accepted({ work_ms: 600_000 }), await jobs.accepted({ hang_prob: 1 })];
    for (const id of ids) await jobs.reached(id, 'active');
    service.signal('SIGTERM');
    await draining(service);
    service.signal('SIGTERM');
    expect(await service.exited).toEqual(STOPPED);
    const after = new JobClient(await orchd.start({ dataDir, flags: ['--role', 'api'] }));
    for (const id of ids) expect(await after.get(id)).toMatchObject({ state: 'ready', releases: 1, requeues: 0 });
  });
});

describe('what is open when a service ends', () => {
  it('does not hold it up: a pipe that takes its log and is full', async () => {
    const pipe = join(orchd.folder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const port = await freePort();
    const filling = `import { writeSync } from 'node:fs';
      process.stdout.isTTY;
      for (const bytes of [4096, 1]) try { for (;;) writeSync(1, 'x'.repeat(bytes)); } catch {}`;
    const service = orchd.launch({
      port,
      nodeFlags: ['--import', `data:text/javascript,${encodeURIComponent(filling)}`],
      wrapper: ['sh', '-c', `exec "$@" 1<>'${pipe}'`, 'sh'],
      flags: ['--shutdown-grace-ms', '60000'],
    });
    await eventually('the service is ready', async () => (await call(port, 'GET', '/readyz').catch(() => null))?.status === 200);
    expect(await service.stop()).toEqual(STOPPED);
    expect(service.stderr).toBe('');
  });

  it('does not hold it up: idle connections, and uploads that do not end', async () => {
    const service = await orchd.start();
    const idle = await RawSocket.open(service.port);
    const kept = await RawSocket.open(service.port);
    kept.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await kept.responses(1);
    const upload = await RawSocket.open(service.port);
    upload.send('POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"work_ms":1');
    // The server has read the head when it has answered a later request.
    await service.call('GET', '/healthz');
    expect(await service.stop()).toEqual(STOPPED);
    await Promise.all([idle.closed, kept.closed, upload.closed]);
  });

  it('is answered truly under load: every 201 is there after the restart, every 503 draining is not', async () => {
    const dataDir = orchd.folder();
    const service = await orchd.start({ dataDir });
    const kept: string[] = [];
    const refused: string[] = [];
    let next = 0;
    const client = async () => {
      for (;;) {
        const id = `load-${next++}`;
        const answer = await service.post<{ code?: string }>('/jobs', { id, work_ms: 1 }).catch(() => null);
        if (answer === null) return;
        if (answer.status === 201) kept.push(id);
        else if (answer.body.code === 'draining') refused.push(id);
        else throw new Error(`unexpected answer ${JSON.stringify(answer)}`);
      }
    };
    const clients = Array.from({ length: 32 }, client);
    await eventually('some jobs are accepted', () => kept.length > 200);
    expect(await service.stop()).toEqual(STOPPED);
    await Promise.all(clients);

    const after = await orchd.start({ dataDir });
    for (const id of kept) expect((await after.call('GET', `/jobs/${id}`)).status).toBe(200);
    for (const id of refused) expect((await after.call('GET', `/jobs/${id}`)).status).toBe(404);
  });
});
