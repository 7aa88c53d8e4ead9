import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { IsolateFixture } from './isolate.fixture.js';

const THREADS = 2;

describe('Handler threads', () => {
  let fixture: IsolateFixture;
  const alive = new Set<Worker>();
  let most = 0;

  const onThread = (message: unknown): void => {
    const { worker } = message as { worker: Worker };
    alive.add(worker);
    most = Math.max(most, alive.size);
    worker.once('exit', () => alive.delete(worker));
  };

  beforeEach(async () => {
    most = 0;
    subscribe('worker_threads', onThread);
    fixture = await IsolateFixture.create({ heartbeatTimeoutMs: 200, threads: THREADS });
  });
  afterEach(async () => {
    await fixture.close();
    unsubscribe('worker_threads', onThread);
    expect(alive.size).toBe(0);
  });

  it('are as many as the machine has cores, however many workers there are, and are used again', async () => {
    fixture.handler('work', `export const handle = () => { const end = performance.now() + 2; while (performance.now() < end); return 1 }`);
    const ids = await Promise.all(Array.from({ length: 60 }, () => fixture.enqueue('work')));
    for (const id of ids) expect(await fixture.done(id)).toMatchObject({ starts: 1 });
    expect(most).toBe(THREADS);
  });

  it('that do not end although they are killed, for they stand in native code, give up their places', async () => {
    const fifo = fixture.file('fifo');
    execFileSync('mkfifo', [fifo]);
    const source = `import { readFileSync } from 'node:fs'; export const handle = () => { readFileSync(${JSON.stringify(fifo)}) }`;
    fixture.handler('stuck', source, { heartbeatTimeoutMs: 50 });
    fixture.handler('good', `export const handle = () => 'fine'`);
    const stuck = await Promise.all(Array.from({ length: THREADS }, () => fixture.enqueue('stuck', { maxRequeues: 0 })));
    for (const id of stuck) await fixture.dead(id);
    expect(await fixture.done(await fixture.enqueue('good'))).toMatchObject({ starts: 1 });
    expect(alive.size).toBe(THREADS + 1);
    closeSync(openSync(fifo, 'w')); // lets them go
  });

  it('do not keep a pool from stopping when they stand in native code', async () => {
    const fifo = fixture.file('fifo');
    execFileSync('mkfifo', [fifo]);
    const source = `import { readFileSync } from 'node:fs'; export const handle = (job, ctx) => { ctx.log('in'); readFileSync(${JSON.stringify(fifo)}) }`;
    fixture.handler('stuck', source, { heartbeatTimeoutMs: 600_000 });
    const id = await fixture.begun('stuck');
    expect(fixture.pool.hasStuckThreads).toBe(false);
    await fixture.pool.stop();
    expect(fixture.pool.hasStuckThreads).toBe(true);
    expect(await fixture.storage.get(id)).toMatchObject({ state: 'ready', attempts: 0 });
    closeSync(openSync(fifo, 'w')); // lets it go
    await fixture.until(
      () => !fixture.pool.hasStuckThreads,
      () => 'the thread to end',
    );
  });

  it('stay as many when all of them hang, one after the other', async () => {
    fixture.handler('hang', `export const handle = () => { for (;;); }`, { heartbeatTimeoutMs: 20 });
    const ids = await Promise.all(Array.from({ length: 30 }, () => fixture.enqueue('hang', { maxRequeues: 0 })));
    for (const id of ids) await fixture.dead(id);
    expect(most).toBe(THREADS);
    await fixture.until(
      () => alive.size === 0,
      () => 'the last one to end',
    );
    expect(fixture.pool.snapshot()).toMatchObject({ requeued: 30, workers: { healthy: 16, busy: 0, zombies: 0, replaced: 30 } });
  });

  it('of many handlers are kept idle, but only so many', async () => {
    for (let i = 0; i < 6; i++) fixture.handler(`type${i}`, `export const handle = () => ${i}`);
    for (let i = 0; i < 6; i++) await fixture.done(await fixture.enqueue(`type${i}`));
    expect(most).toBeLessThanOrEqual(2 * THREADS);
  });

  it('claim no more than they can do when a queue has no other handlers', async () => {
    const file = fixture.file('go');
    const source = `import { existsSync } from 'node:fs';
      export const handle = async (job, ctx) => { while (!existsSync(${JSON.stringify(file)})) { ctx.heartbeat(); await new Promise((r) => setTimeout(r, 5)) } }`;
    fixture.handler('wait', source);
    const ids = await Promise.all(Array.from({ length: 10 }, () => fixture.enqueue('wait')));
    await fixture.until(
      async () => (await fixture.storage.counts()).active === THREADS,
      () => 'the first ones',
    );
    fixture.touch('go');
    for (const id of ids) await fixture.done(id);
  });

  it('let a loop that never awaits learn that it is cancelled, from its heartbeat', async () => {
    const file = fixture.file('heard');
    fixture.handler(
      'loop',
      `import { writeFileSync } from 'node:fs';
       export const handle = (job, ctx) => { ctx.log('begun'); for (;;) { ctx.heartbeat(); if (ctx.signal.aborted) break; }
         writeFileSync(${JSON.stringify(file)}, ctx.signal.reason.reason) }`,
    );
    const id = await fixture.begun('loop');
    await fixture.queue.cancel(id);
    await fixture.inState(id, 'cancelled');
    expect(readFileSync(file, 'utf8')).toBe('cancelled');
    expect(fixture.pool.snapshot().workers).toMatchObject({ replaced: 0 });
  });

  it('end a job that waits for one of them at once when it is cancelled, and begin no other for it', async () => {
    fixture.handler('busy', `export const handle = (job, ctx) => { for (;;) ctx.heartbeat(); }`);
    fixture.registry.register('inline', () => 1);
    const busy = [await fixture.enqueue('busy'), await fixture.enqueue('busy')];
    const waiting = await fixture.enqueue('busy');
    await fixture.inState(waiting, 'active');
    await fixture.queue.cancel(waiting);
    expect(await fixture.inState(waiting, 'cancelled')).toMatchObject({ starts: 1 });
    for (const id of busy) expect(await fixture.storage.get(id)).toMatchObject({ state: 'active' });
  });

  it('count the time of a job from its entry, not from its claim', async () => {
    fixture.registry.register('inline', () => 1);
    fixture.handler(
      'work',
      `export const handle = (job, ctx) => { const end = performance.now() + 150; while (performance.now() < end); return 1 }`,
      {
        timeoutMs: 400,
        maxAttempts: 1,
      },
    );
    const ids = await Promise.all(Array.from({ length: 10 }, () => fixture.enqueue('work')));
    for (const id of ids) expect(await fixture.done(id)).toMatchObject({ attempts: 0 });
  });

  it('may hold a Nest application context of their own, which is closed with them', async () => {
    const resolve = (name: string): string => JSON.stringify(pathToFileURL(createRequire(import.meta.url).resolve(name)).href);
    const file = fixture.file('closed');
    fixture.handler(
      'nest',
      `import ${resolve('reflect-metadata')};
       import { Module } from ${resolve('@nestjs/common')};
       import { NestFactory } from ${resolve('@nestjs/core')};
       import { writeFileSync } from 'node:fs';
       class Greeter { greet(name) { return 'hello ' + name } onModuleDestroy() { writeFileSync(${JSON.stringify(file)}, '') } }
       class Handler { constructor(greeter) { this.greeter = greeter } handle(job) { return this.greeter.greet(job.payload) } }
       Reflect.defineMetadata('design:paramtypes', [Greeter], Handler);
       class HandlerModule {}
       Module({ providers: [Greeter, Handler] })(HandlerModule);
       const app = await NestFactory.createApplicationContext(HandlerModule, { logger: false });
       export const handle = (job, ctx) => app.get(Handler).handle(job, ctx);
       export const close = () => app.close();`,
    );
    const job = await fixture.done(await fixture.enqueue('nest', { payload: 'ada' }));
    expect(job.result).toBe('"hello ada"');
    await fixture.pool.stop();
    expect(existsSync(file)).toBe(true);
  });
});
