import { Injectable, Module, Scope, type ModuleMetadata, type OnModuleInit } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { StorageAdapter, StorageModule } from '@orchd/storage';
import { MemoryStorageAdapter } from '@orchd/storage/memory';
import type { Handler, HandlerOptions, JobContext } from './handler/handler.js';
import { HandlerRegistry } from './handler/handler.registry.js';
import { JobHandler, type HandlerOptionsFactory } from './handler/job-handler.decorator.js';
import type { Job } from './job/job.js';
import { QueueModule } from './queue.module.js';
import { QueueService } from './queue.service.js';
import { WorkerPoolModule } from './worker-pool.module.js';
import { until } from './worker-pool/pool.fixture.js';
import { WorkerPool } from './worker-pool/worker-pool.js';

@Injectable()
class Mailer {
  readonly sent: string[] = [];
}

@JobHandler('mail.send', { queue: 'mail', maxAttempts: 2 })
class SendMail implements Handler<{ to: string }> {
  constructor(private readonly mailer: Mailer) {}

  async handle(job: Job<{ to: string }>, ctx: JobContext): Promise<{ attempt: number }> {
    this.mailer.sent.push(job.payload.to);
    return { attempt: ctx.attempt };
  }
}

@Module({ providers: [Mailer, SendMail], exports: [Mailer] })
class MailModule {}

describe('QueueModule and WorkerPoolModule', () => {
  let module: TestingModule | null = null;
  let storage: MemoryStorageAdapter;

  async function application(metadata: ModuleMetadata): Promise<TestingModule> {
    storage = new MemoryStorageAdapter();
    module = await Test.createTestingModule({
      ...metadata,
      imports: [StorageModule.forRoot({ adapter: storage }), ...(metadata.imports ?? [])],
    }).compile();
    module.useLogger(false);
    return module.init();
  }

  afterEach(async () => {
    await module?.close();
    module = null;
  });

  it('run a handler with what it injects', async () => {
    const app = await application({ imports: [QueueModule.forRoot(), WorkerPoolModule.forRoot({ queues: { mail: 1 } }), MailModule] });
    const queue = app.get(QueueService);
    const { id } = await queue.enqueue({ type: 'mail.send', payload: { to: 'ada' } });
    await until(async () => (await queue.get(id))!.state === 'done', 'the job');
    expect(app.get(Mailer).sent).toEqual(['ada']);
    expect(await queue.get(id)).toMatchObject({ queue: 'mail', maxAttempts: 2, result: { attempt: 1 } });
  });

  it('take their options from an asynchronous factory', async () => {
    const app = await application({
      imports: [
        QueueModule.forRootAsync({ useFactory: async () => ({ maxAttempts: 9 }) }),
        WorkerPoolModule.forRootAsync({
          imports: [MailModule],
          inject: [Mailer],
          useFactory: async (mailer: Mailer) => ({ queues: { mail: 3 + mailer.sent.length } }),
        }),
        MailModule,
      ],
    });
    expect(app.get(WorkerPool).snapshot().workers).toMatchObject({ configured: 3, healthy: 3 });
    app.get(HandlerRegistry).register('other', () => null);
    const { id } = await app.get(QueueService).enqueue({ type: 'other', queue: 'mail' });
    expect(await app.get(QueueService).get(id)).toMatchObject({ maxAttempts: 9 });
  });

  it('find handlers made by a factory, and each only once', async () => {
    const app = await application({
      imports: [QueueModule.forRoot(), WorkerPoolModule.forRoot({ queues: { mail: 1 } })],
      providers: [
        Mailer,
        { provide: 'MAIL', inject: [Mailer], useFactory: (mailer: Mailer) => new SendMail(mailer) },
        { provide: 'ALIAS', useExisting: 'MAIL' },
      ],
    });
    expect(app.get(HandlerRegistry).get('mail.send')).toBeDefined();
  });

  it('run handlers that a module registers by hand', async () => {
    @Module({})
    class PlainModule implements OnModuleInit {
      constructor(private readonly registry: HandlerRegistry) {}

      onModuleInit(): void {
        this.registry.register('plain', (job: Job<number>) => job.payload + 1);
      }
    }
    const app = await application({ imports: [QueueModule.forRoot(), WorkerPoolModule.forRoot(), PlainModule] });
    const queue = app.get(QueueService);
    const { id } = await queue.enqueue({ type: 'plain', payload: 1 });
    await until(async () => (await queue.get(id))!.result === 2, 'the job');
  });

  it('refuse to start with two handlers of one type', async () => {
    @JobHandler('mail.send')
    class SendMailToo implements Handler {
      handle(): void {
        // never called
      }
    }
    const started = application({
      imports: [QueueModule.forRoot(), WorkerPoolModule.forRoot()],
      providers: [Mailer, SendMail, SendMailToo],
    });
    await expect(started).rejects.toMatchObject({ code: 'invalid_argument', field: 'type' });
  });

  it("let a handler's class say options that are known at start only", async () => {
    @Injectable()
    class Config {
      get = (): Promise<number> => Promise.resolve(1234);
    }
    @JobHandler('mail.digest', { queue: 'mail', timeoutMs: 1, maxAttempts: 7 })
    class Digest implements Handler, HandlerOptionsFactory {
      constructor(private readonly config: Config) {}
      async createHandlerOptions() {
        return { timeoutMs: await this.config.get() };
      }
      handle(): void {
        // Not called.
      }
    }
    const app = await application({ imports: [QueueModule.forRoot(), WorkerPoolModule.forRoot()], providers: [Config, Digest] });
    expect(app.get(HandlerRegistry).get('mail.digest')).toMatchObject({
      runIn: 'inline',
      options: { queue: 'mail', timeoutMs: 1234, maxAttempts: 7 },
    });
  });

  it('let a class stand for a module file, which runs in a thread', async () => {
    const module = new URL('./resize.thread.js', import.meta.url);
    @JobHandler('photo.resize', { module })
    class Resize {}
    const app = await application({ imports: [QueueModule.forRoot(), WorkerPoolModule.forRoot()], providers: [Resize] });
    expect(app.get(HandlerRegistry).get('photo.resize')).toMatchObject({ target: module, runIn: 'thread' });
  });

  it.each([
    ['module', new URL('https://example.org/handler.js'), {}],
    ['runIn', new URL('file:///handler.js'), { runIn: 'inline' }],
    ['runIn', new URL('file:///handler.js'), { runIn: 'cluster' }],
    ['resourceLimits.stackSizeMb', new URL('file:///handler.js'), { resourceLimits: { stackSizeMb: 0 } }],
    ['recycleAfter', new URL('file:///handler.js'), { recycleAfter: 1.5 }],
  ])('refuse a handler by its %s: %s %j', (field, url, options) => {
    expect(() => new HandlerRegistry().register('job', url, options as HandlerOptions)).toThrow(expect.objectContaining({ field }));
  });

  it.each(['thread', 'process'] as const)('refuse to start with a class that is to run in a %s, where no object can go', async (runIn) => {
    @JobHandler('cpu', { runIn })
    class Cpu implements Handler {
      handle(): void {
        // never called
      }
    }
    await expect(application({ imports: [WorkerPoolModule.forRoot()], providers: [Cpu] })).rejects.toMatchObject({ field: 'runIn' });
  });

  it('refuse to start with a handler that is made anew for each request', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {}
    @JobHandler('scoped')
    class Scoped implements Handler {
      constructor(readonly dependency: PerRequest) {}
      handle(): void {
        // never called
      }
    }
    const started = application({ imports: [WorkerPoolModule.forRoot()], providers: [PerRequest, Scoped] });
    await expect(started).rejects.toMatchObject({ field: 'handler' });
  });

  it('refuse to start with a handler without handle()', async () => {
    @JobHandler('empty')
    class Empty {}
    await expect(application({ imports: [WorkerPoolModule.forRoot()], providers: [Empty] })).rejects.toMatchObject({ field: 'handler' });
  });

  it.each([
    [{ heartbeatTimeoutMs: 0 }, 'heartbeatTimeoutMs'],
    [{ timeoutMs: -1 }, 'timeoutMs'],
    [{ maxAttempts: 0 }, 'maxAttempts'],
    [{ queue: 'a b' }, 'queue'],
    [{ backoff: { baseMs: NaN } }, 'backoff.baseMs'],
  ])('refuse the handler options %j by name', async (options, field) => {
    const registry = new HandlerRegistry();
    expect(() => registry.register('job', () => null, options)).toThrow(expect.objectContaining({ code: 'invalid_argument', field }));
    expect(() => registry.register('1job', () => null)).toThrow(expect.objectContaining({ field: 'type' }));
  });

  it('work apart: a process may take jobs only, another one only do them', async () => {
    const api = await application({ imports: [QueueModule.forRoot()] });
    const { id } = await api.get(QueueService).enqueue({ type: 'mail.send', queue: 'mail', payload: { to: 'bob' } });
    const workers = await Test.createTestingModule({
      imports: [StorageModule.forRoot({ adapter: storage }), WorkerPoolModule.forRoot({ queues: { mail: 1 } }), MailModule],
    }).compile();
    workers.useLogger(false);
    await workers.init();
    await until(async () => (await api.get(QueueService).get(id))!.state === 'done', 'the job');
    await workers.close();
  });

  it('start no worker before the storage is open, nor by themselves when told not to', async () => {
    const app = await application({
      imports: [QueueModule.forRoot(), WorkerPoolModule.forRoot({ autoStart: false, queues: { mail: 1 } }), MailModule],
    });
    const queue = app.get(QueueService);
    const { id } = await queue.enqueue({ type: 'mail.send', payload: { to: 'eve' } });
    expect((await queue.stats()).workers).toMatchObject({ configured: 1, healthy: 0 });
    app.get(WorkerPool).start();
    await until(async () => (await queue.get(id))!.state === 'done', 'the job');
  });

  it('shut down in phases: no claim, then running jobs to their end, then the storage', async () => {
    const app = await application({ imports: [QueueModule.forRoot(), WorkerPoolModule.forRoot({ workers: 1 })] });
    const queue = app.get(QueueService);
    let finish!: (value: string) => void;
    app.get(HandlerRegistry).register('job', () => new Promise<string>((resolve) => (finish = resolve)));
    const { id } = await queue.enqueue({ type: 'job' });
    const { id: next } = await queue.enqueue({ type: 'job' });
    await until(() => finish !== undefined, 'the handler');
    const closing = app.close();
    module = null;
    await until(() => queue.draining, 'the first phase');
    expect(await queue.get(id)).toMatchObject({ state: 'active' });
    await expect(queue.enqueue({ type: 'job' })).rejects.toMatchObject({ code: 'draining' });
    const closed = new Promise<unknown[]>((resolve) => {
      const close = storage.close.bind(storage);
      storage.close = async () => {
        resolve(await Promise.all([storage.get(id), storage.get(next)]));
        return close();
      };
    });
    finish('in time');
    await closing;
    expect(await closed).toMatchObject([
      { state: 'done', result: '"in time"' },
      { state: 'ready', starts: 0 },
    ]);
    await expect(app.get(StorageAdapter).counts()).rejects.toMatchObject({ code: 'not_open' });
  });
});
