import { Module, type ModuleMetadata } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { HandlerRegistry, QueueModule, WorkerPool, WorkerPoolModule } from '@orchd/queue';
import { StorageModule, type StorageHealth } from '@orchd/storage';
import { MemoryStorageAdapter } from '@orchd/storage/memory';
import { HealthModule } from './health.module.js';
import { StorageHealthIndicator } from './storage.health.js';

class UnwellStorage extends MemoryStorageAdapter {
  unwell: Partial<StorageHealth> | null = null;

  override health(): StorageHealth {
    return { ...super.health(), ...this.unwell };
  }
}

interface Fixture {
  readonly app: NestFastifyApplication;
  readonly storage: UnwellStorage;
  get(path: string): Promise<{ status: number; body: { status: string; details: Record<string, Record<string, unknown>> } }>;
}

describe('HealthModule', () => {
  let fixture: Fixture | null = null;

  async function application(imports: ModuleMetadata['imports'] = [], autoOpen = true): Promise<Fixture> {
    const storage = new UnwellStorage();
    const module = await Test.createTestingModule({
      imports: [StorageModule.forRoot({ adapter: storage, autoOpen }), ...imports, HealthModule.forRoot()],
    }).compile();
    const app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter({ forceCloseConnections: true }), {
      logger: false,
    });
    await app.listen(0, '127.0.0.1');
    const get: Fixture['get'] = async (path) => {
      const response = await fetch(`${await app.getUrl()}${path}`);
      return { status: response.status, body: (await response.json()) as never };
    };
    return (fixture = { app, storage, get });
  }

  afterEach(async () => {
    await fixture?.app.close();
    fixture = null;
  });

  it('answers /healthz without a look at the storage', async () => {
    const { storage, get } = await application();
    storage.health = () => {
      throw new Error('the storage was touched');
    };
    expect(await get('/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
  });

  it('is ready with an open storage and workers, and names both', async () => {
    const { get } = await application([QueueModule.forRoot(), WorkerPoolModule.forRoot({ workers: 2 })]);
    const { status, body } = await get('/readyz');
    expect(status).toBe(200);
    expect(body.details).toEqual({
      storage: { status: 'up', kind: 'memory', durability: 'memory', state: 'open' },
      workers: { status: 'up', configured: 2, healthy: 2, busy: 0 },
    });
  });

  it('is ready in a process without workers, and says so', async () => {
    const { get } = await application([QueueModule.forRoot()]);
    const { status, body } = await get('/readyz');
    expect(status).toBe(200);
    expect(body.details.workers).toEqual({ status: 'up', message: 'no workers here' });
  });

  it('needs nothing but a storage', async () => {
    const { get } = await application();
    expect((await get('/readyz')).status).toBe(200);
  });

  it.each([
    ['is full', { state: 'full', writable: false, reason: 'the disk is full' } as const],
    ['has failed', { state: 'failed', writable: false, reason: 'fsync failed' } as const],
  ])('is not ready when the storage %s', async (_title, unwell) => {
    const { storage, get } = await application([QueueModule.forRoot(), WorkerPoolModule.forRoot()]);
    storage.unwell = unwell;
    const { status, body } = await get('/readyz');
    expect(status).toBe(503);
    expect(body.status).toBe('error');
    expect(body.details.storage).toMatchObject({ status: 'down', state: unwell.state, message: unwell.reason });
    expect(body.details.workers).toMatchObject({ status: 'up' });
    expect((await get('/healthz')).status).toBe(200);
  });

  it('shows how far the replay is, and is not ready before its end', async () => {
    const { storage, get } = await application();
    storage.unwell = { state: 'opening', writable: false, reason: 'replaying', replay: { done: 10, total: 40 } };
    const { status, body } = await get('/readyz');
    expect(status).toBe(503);
    expect(body.details.storage).toMatchObject({ status: 'down', replay: { done: 10, total: 40 } });
  });

  it('is not ready before the storage is open and the workers have started', async () => {
    const { app, storage, get } = await application([QueueModule.forRoot(), WorkerPoolModule.forRoot({ autoStart: false })], false);
    expect((await get('/readyz')).body.details).toMatchObject({ storage: { status: 'down' }, workers: { status: 'down' } });
    await storage.open();
    app.get(WorkerPool).start();
    expect((await get('/readyz')).status).toBe(200);
  });

  it('is not ready while it drains, but alive', async () => {
    const { app, get } = await application([QueueModule.forRoot(), WorkerPoolModule.forRoot()]);
    app.get(WorkerPool).drain();
    const { status, body } = await get('/readyz');
    expect(status).toBe(503);
    expect(body.details.workers).toEqual({ status: 'down', message: 'draining' });
    expect((await get('/healthz')).status).toBe(200);
  });

  it('is not ready when every worker is hung and the health check is off', async () => {
    const { app, get } = await application([
      QueueModule.forRoot(),
      WorkerPoolModule.forRoot({ workers: 1, healthCheck: false, heartbeatTimeoutMs: 1, shutdownGraceMs: 0 }),
    ]);
    const entered = new Promise<void>((resolve) => {
      app.get(HandlerRegistry).register('hang', () => (resolve(), new Promise(() => undefined)));
    });
    await fixture!.storage.enqueue([{ queue: 'default', type: 'hang', payload: 'null' }]);
    await entered;
    let answer = await get('/readyz');
    while (answer.status === 200) answer = await get('/readyz');
    expect(answer.body.details.workers).toMatchObject({ status: 'down', message: 'no healthy worker', healthy: 0, busy: 1 });
  });

  it('exports the indicators without the routes', async () => {
    @Module({ imports: [HealthModule] })
    class OwnHealth {
      constructor(readonly storage: StorageHealthIndicator) {}
    }
    const storage = new UnwellStorage();
    const module = await Test.createTestingModule({ imports: [StorageModule.forRoot({ adapter: storage }), OwnHealth] }).compile();
    await module.init();
    expect(module.get(OwnHealth).storage.check('jobs')).toMatchObject({ jobs: { status: 'up' } });
    await module.close();
  });

  it('turns a health() that throws into an answer', async () => {
    const { storage, get } = await application();
    storage.health = () => {
      throw new Error('gone');
    };
    const { status, body } = await get('/readyz');
    expect(status).toBe(503);
    expect(body.details.storage).toMatchObject({ status: 'down', message: 'gone' });
  });
});
