import { existsSync, readFileSync, statSync } from 'node:fs';
import { IsolateFixture } from './isolate.fixture.js';

const HB_MS = 200;

describe.each(['thread', 'process'] as const)('A handler in a %s', (runIn) => {
  let fixture: IsolateFixture;
  beforeEach(async () => {
    fixture = await IsolateFixture.create({ heartbeatTimeoutMs: HB_MS }, runIn);
  });
  afterEach(() => fixture.close());

  describe('that comes back', () => {
    it('was given its job and its context; what it returns is the result', async () => {
      fixture.handler('echo', `export const handle = (job, ctx) => ({ ...job, attempt: ctx.attempt, fence: ctx.epoch })`);
      const job = await fixture.done(await fixture.enqueue('echo', { payload: { text: 'hello' }, priority: 7 }));
      expect(JSON.parse(job.result!)).toMatchObject({ payload: { text: 'hello' }, priority: 7, attempt: 1, fence: job.epoch, id: job.id });
    });

    it('serves the next job in the same place, however it is exported', async () => {
      const body = `let n = 0; const handle = () => ++n;`;
      fixture.handler('named', `${body} export { handle }`);
      fixture.handler('default', `${body} export default handle`);
      fixture.handler('object', `${body} export default { handle }`);
      for (const type of ['named', 'default', 'object']) {
        for (const result of ['1', '2', '3']) expect(await fixture.done(await fixture.enqueue(type))).toMatchObject({ result });
      }
    });

    it('is replaced by a new one after as many jobs as it says, and closed before', async () => {
      const file = fixture.file('closed');
      const source = `import { appendFileSync } from 'node:fs'; let n = 0;
        export const handle = () => ++n; export const close = () => appendFileSync(${JSON.stringify(file)}, 'x')`;
      fixture.handler('leaky', source, { recycleAfter: 2 });
      const results = [];
      for (let i = 0; i < 5; i++) results.push((await fixture.done(await fixture.enqueue('leaky'))).result);
      expect(results).toEqual(['1', '2', '1', '2', '1']);
      await fixture.until(
        () => readFileSync(file, 'utf8') === 'xx',
        () => 'two to be closed',
      );
    });

    it('may change its whole world: nobody else is hurt (H17)', async () => {
      fixture.handler(
        'vandal',
        `export const handle = () => { Date.now = () => 0; Object.prototype.polluted = true; JSON.parse = () => 'mine'; return 1 }`,
      );
      fixture.handler('victim', `export const handle = (job) => [job.payload, Date.now() > 0, ({}).polluted ?? null]`);
      await fixture.done(await fixture.enqueue('vandal'));
      const job = await fixture.done(await fixture.enqueue('victim', { payload: 'mine' }));
      expect(job.result).toBe('["mine",true,null]');
    });
  });

  describe('that throws', () => {
    it.each([
      ['an error', `new RangeError('too far')`, 'RangeError: too far'],
      ['null', `null`, 'threw null'],
      ['a string', `'no luck'`, 'no luck'],
      ['an object that refers to itself', `(() => { const o = {}; o.o = o; return o })()`, 'threw [object Object]'],
      ['an error with a getter that throws', `Object.defineProperty(new Error('x'), 'message', { get() { throw 1 } })`, 'threw {}'],
    ])('%s has failed with a readable reason (H01, H02)', async (_title, thrown, message) => {
      fixture.handler('bad', `export const handle = () => { throw ${thrown} }`);
      const job = await fixture.dead(await fixture.enqueue('bad', { maxAttempts: 1 }));
      expect(job.error).toMatchObject({ code: 'failed', message });
    });

    it('a discard or a snooze is understood, by its flag (H11)', async () => {
      const flag = `Object.assign(new Error('of no use'), { [Symbol.for('orchd.verdict')]:`;
      fixture.handler('discard', `export const handle = () => { throw ${flag} { verb: 'discard' } }) }`);
      fixture.handler('snooze', `let n = 0; export const handle = () => { if (n++ === 0) throw ${flag} { verb: 'snooze', inMs: 1 } }) }`);
      expect(await fixture.dead(await fixture.enqueue('discard'))).toMatchObject({
        attempts: 1,
        error: { code: 'discarded', message: 'of no use' },
      });
      expect(await fixture.done(await fixture.enqueue('snooze'))).toMatchObject({ attempts: 0, releases: 1 });
    });

    it.each(['1n', '() => 1', `Symbol('s')`, '(() => { const o = {}; o.o = o; return o })()'])(
      'or returns what is no JSON value (%s) has failed, once (H10)',
      async (value) => {
        fixture.handler('odd', `export const handle = () => ${value}`);
        const job = await fixture.dead(await fixture.enqueue('odd', { maxAttempts: 1 }));
        expect(job).toMatchObject({ starts: 1, error: { code: 'failed', message: 'result not serialisable' } });
      },
    );
  });

  describe('that dies', () => {
    it.each([
      ['exits with code 0 (H04)', `process.exit(0)`],
      ['exits within a promise', `new Promise(() => setImmediate(() => process.exit(7)))`],
      ['leaves a rejection unhandled', `{ Promise.reject(new Error('lost')); return new Promise(() => {}) }`],
      ['throws out of nowhere', `new Promise(() => setImmediate(() => { throw new Error('out of nowhere') }))`],
    ])('%s is seen at once, and charged an attempt', async (_title, deed) => {
      // Silence would only tell in ten minutes.
      fixture.handler('dying', `export const handle = () => ${deed.startsWith('{') ? deed : `{ return ${deed} }`}`, {
        heartbeatTimeoutMs: 600_000,
      });
      const job = await fixture.dead(await fixture.enqueue('dying', { maxAttempts: 2 }));
      expect(job).toMatchObject({ attempts: 2, requeues: 0, error: { code: 'crashed' } });
      expect(fixture.pool.snapshot().workers).toMatchObject({ healthy: 16, busy: 0, zombies: 0, replaced: 2 });
    });

    it('again and again is dead in the end, and others go on meanwhile (C09)', async () => {
      fixture.handler('poison', `export const handle = () => process.exit(1)`);
      fixture.handler('good', `export const handle = () => 'fine'`);
      const poison = await fixture.enqueue('poison');
      const good = await Promise.all(Array.from({ length: 20 }, () => fixture.enqueue('good')));
      for (const id of good) expect(await fixture.done(id)).toMatchObject({ starts: 1 });
      expect(await fixture.dead(poison)).toMatchObject({ attempts: 5, starts: 5, error: { code: 'crashed' } });
    });

    it('of its memory takes nobody with it (H07)', async () => {
      // Jest takes these words of V8 on standard error, which a child process shares, for its own end.
      const silently = runIn === 'process' ? `import { closeSync } from 'node:fs'; closeSync(2);` : '';
      const source = `${silently} export const handle = () => { const all = []; for (;;) all.push(new Array(1000).fill(Math.random())) }`;
      fixture.handler('greedy', source, { resourceLimits: { maxOldGenerationSizeMb: 24 }, heartbeatTimeoutMs: 600_000 });
      fixture.handler('good', `export const handle = () => 'fine'`);
      const job = await fixture.dead(await fixture.enqueue('greedy', { maxAttempts: 1 }));
      expect(job.error).toMatchObject({ code: 'crashed' });
      await fixture.done(await fixture.enqueue('good'));
    });
  });

  it('may say what it likes on the line to its pool: what is not ours is left unheard (H17)', async () => {
    const words = [
      `null`,
      `undefined`,
      `'text'`,
      `{}`,
      `{ kind: 'returned', result: 5 }`,
      `{ kind: 'threw' }`,
      `{ kind: 'notes', log: 'x' }`,
    ];
    const say = runIn === 'thread' ? 'parentPort.postMessage(word)' : `writeSync(3, JSON.stringify(word ?? null) + '\\n')`;
    fixture.handler(
      'talker',
      `import { parentPort } from 'node:worker_threads'; import { writeSync } from 'node:fs';
       export const handle = () => { for (const word of [${words.join()}]) ${say}; return 'said' }`,
    );
    expect(await fixture.done(await fixture.enqueue('talker'))).toMatchObject({ starts: 1, result: '"said"' });
  });

  describe('whose module', () => {
    it.each([
      ['throws', `throw new Error('no such database')`, 'no such database'],
      ['does not parse', `this is no JavaScript`, 'SyntaxError: '],
      ['exports no handler', `export const handler = 1`, `the module exports no function 'handle'`],
      ['exits', `process.exit(3)`, 'exit code 3'],
    ])('%s has failed with that reason (H12)', async (_title, source, reason) => {
      fixture.handler('broken', source);
      const job = await fixture.dead(await fixture.enqueue('broken', { maxAttempts: 1 }));
      expect(job.error).toMatchObject({ code: 'failed' });
      expect(job.error!.message).toMatch(/^the handler's module could not be loaded: /);
      expect(job.error!.message).toContain(reason);
    });

    it('is broken is not loaded for each of its jobs, and serves when it is mended (H12)', async () => {
      const loads = fixture.file('loads');
      const count = `import { appendFileSync, existsSync } from 'node:fs'; appendFileSync(${JSON.stringify(loads)}, 'x');`;
      fixture.handler(
        'broken',
        `${count} if (!existsSync(${JSON.stringify(fixture.file('mended'))})) throw new Error('broken'); export const handle = () => 1`,
      );
      const ids = await Promise.all(Array.from({ length: 50 }, () => fixture.enqueue('broken', { maxAttempts: 1 })));
      for (const id of ids) await fixture.dead(id);
      expect(statSync(loads).size).toBeLessThanOrEqual(2);
      const id = await fixture.enqueue('broken', { maxAttempts: 50 });
      fixture.touch('mended');
      await fixture.done(id);
    });
  });

  describe('that is silent', () => {
    it.each([
      ['in a loop (H08)', `for (;;);`],
      ['waiting for ever (H09)', `return new Promise(() => {})`],
    ])('%s loses its job, and is really ended', async (_title, deed) => {
      const file = fixture.file('hung');
      const note = `import { existsSync, writeFileSync } from 'node:fs';`;
      fixture.handler(
        'hang',
        `${note} export const handle = () => { if (existsSync(${JSON.stringify(file)})) return 'well'; writeFileSync(${JSON.stringify(file)}, ''); ${deed} }`,
      );
      const job = await fixture.done(await fixture.enqueue('hang'));
      expect(job).toMatchObject({ requeues: 1, attempts: 0, starts: 2, result: '"well"' });
      await fixture.until(
        () => fixture.pool.snapshot().workers.zombies === 0,
        () => 'the hung one to be gone',
      );
      expect(fixture.pool.snapshot()).toMatchObject({
        requeued: 1,
        staleRejected: 0,
        workers: { configured: 16, healthy: 16, busy: 0, replaced: 1, zombies: 0 },
      });
    });

    it('hears its signal before it is ended (C17)', async () => {
      const file = fixture.file('heard');
      fixture.handler(
        'listener',
        `import { appendFileSync } from 'node:fs';
         export const handle = (job, ctx) => new Promise(() => {
           setInterval(() => ctx.heartbeat(), 10);
           ctx.signal.addEventListener('abort', () => appendFileSync(${JSON.stringify(file)}, ctx.signal.reason.reason));
         })`,
      );
      const job = await fixture.dead(await fixture.enqueue('listener', { maxAttempts: 1, timeoutMs: 300 }));
      expect(job.error).toMatchObject({ code: 'timeout' });
      await fixture.until(
        () => existsSync(file) && readFileSync(file, 'utf8') === 'timeout',
        () => 'the signal to be heard',
      );
    });

    it('eats no slot: the others are done (C11)', async () => {
      fixture.handler('hang', `export const handle = () => { for (;;); }`, { heartbeatTimeoutMs: 50 });
      fixture.handler('good', `export const handle = () => 'fine'`);
      const hung = await Promise.all(Array.from({ length: 6 }, () => fixture.enqueue('hang', { maxRequeues: 0 })));
      const good = await Promise.all(Array.from({ length: 40 }, () => fixture.enqueue('good')));
      for (const id of good) await fixture.done(id);
      for (const id of hung) expect(await fixture.dead(id)).toMatchObject({ error: { code: 'hung' } });
    });
  });

  describe('that beats', () => {
    it('from inside a loop is left alone, for many time-outs (C06)', async () => {
      fixture.handler(
        'loop',
        `export const handle = (job, ctx) => { const end = performance.now() + 5 * ${HB_MS}; while (performance.now() < end) ctx.heartbeat(); return 'done' }`,
      );
      expect(await fixture.done(await fixture.enqueue('loop'))).toMatchObject({ starts: 1, requeues: 0 });
    });

    it('is silent neither while its module loads nor while it waits for room', async () => {
      const slow = `await new Promise((resolve) => setTimeout(resolve, 2 * ${HB_MS}));`;
      fixture.handler('slow', `${slow} export const handle = (job, ctx) => 1`);
      const ids = await Promise.all(Array.from({ length: 5 }, () => fixture.enqueue('slow')));
      for (const id of ids) expect(await fixture.done(id)).toMatchObject({ starts: 1, requeues: 0 });
    });
  });

  describe('that is cancelled', () => {
    it('comes back by itself when it listens, and keeps its place', async () => {
      fixture.handler(
        'polite',
        `export const handle = (job, ctx) => new Promise((resolve, reject) => {
           ctx.log('begun'); setInterval(() => ctx.heartbeat(), 10);
           ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
         })`,
      );
      const id = await fixture.begun('polite');
      await fixture.queue.cancel(id);
      await fixture.inState(id, 'cancelled');
      expect(fixture.pool.snapshot().workers).toMatchObject({ replaced: 0, zombies: 0 });
    });

    it('is ended when it does not listen, also in a loop', async () => {
      fixture.handler('deaf', `export const handle = (job, ctx) => { ctx.log('begun'); for (;;) ctx.heartbeat(); }`);
      const id = await fixture.begun('deaf');
      await fixture.queue.cancel(id);
      await fixture.inState(id, 'cancelled');
      await fixture.until(
        () => fixture.pool.snapshot().workers.zombies === 0,
        () => 'it to be gone',
      );
      expect(fixture.pool.snapshot().workers).toMatchObject({ healthy: 16, busy: 0, replaced: 1 });
    });
  });

  describe('that tells of its job', () => {
    it('is heard, with the last lines in order', async () => {
      fixture.handler(
        'talker',
        `export const handle = (job, ctx) => { for (let i = 0; i < 30; i++) ctx.log('line ' + i); ctx.progress(150, 'almost'); }`,
      );
      const job = await fixture.done(await fixture.enqueue('talker'));
      expect(job.log).toEqual(Array.from({ length: 20 }, (_, i) => `line ${i + 10}`));
      expect(job.progress).toEqual({ percent: 100, note: 'almost' });
    });

    it('a hundred thousand times costs the storage a handful of writes (H15)', async () => {
      fixture.handler(
        'flood',
        `export const handle = (job, ctx) => { for (let i = 0; i < 100_000; i++) { ctx.log('x'.repeat(2000)); ctx.progress(i / 1000); } }`,
      );
      const job = await fixture.done(await fixture.enqueue('flood'));
      expect(job.log).toEqual(Array.from({ length: 20 }, () => 'x'.repeat(500)));
      expect(fixture.storage.calls.extend).toBeLessThan(20);
    });

    it('is heard to the last word before it dies', async () => {
      fixture.handler('dying', `export const handle = (job, ctx) => { ctx.log('about to exit'); process.exit(1) }`);
      const job = await fixture.dead(await fixture.enqueue('dying', { maxAttempts: 1 }));
      expect(job.log).toEqual(['about to exit']);
    });
  });

  it('leaves nothing behind when the pool stops in the middle of it', async () => {
    fixture.handler('busy', `export const handle = (job, ctx) => { ctx.log('begun'); for (;;) ctx.heartbeat(); }`);
    const id = await fixture.begun('busy');
    await fixture.pool.stop();
    expect(await fixture.storage.get(id)).toMatchObject({ state: 'ready', releases: 1, attempts: 0 });
    expect(fixture.pool.snapshot().workers).toMatchObject({ zombies: 0 });
  });
});
