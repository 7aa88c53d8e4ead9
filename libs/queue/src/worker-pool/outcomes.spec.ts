import { PoolFixture, turns, until } from './pool.fixture.js';

/** An error that throws whatever one looks at. */
const untouchable = new Proxy(
  {},
  {
    get: () => {
      throw new Error('hands off');
    },
    ownKeys: () => {
      throw new Error('hands off');
    },
  },
);
const circular: Record<string, unknown> = { name: 'x' };
circular.self = circular;

describe('The outcome of a handler', () => {
  let fixture: PoolFixture;

  beforeEach(async () => {
    fixture = await PoolFixture.create();
    fixture.pool.start();
  });
  afterEach(() => fixture.close());

  it.each<[string, unknown, string]>([
    ['null', null, 'threw null'],
    ['undefined', undefined, 'threw undefined'],
    ['a number', 42, 'threw 42'],
    ['a symbol', Symbol('s'), 'threw Symbol(s)'],
    ['a string', 'no luck', 'no luck'],
    ['an empty string', '', 'threw an empty string'],
    ['an error', new Error('boom'), 'boom'],
    ['an error without message', new Error(), 'threw an error without message'],
    ['an error of a kind', new RangeError('too far'), 'RangeError: too far'],
    ['an object', { reason: 1 }, 'threw {"reason":1}'],
    ['a circular object', circular, 'threw [object Object]'],
    ['an object without prototype', Object.create(null), 'threw {}'],
    ['an object that throws when looked at', untouchable, 'threw a value that cannot be read'],
    ['a function', Math.max, 'threw function max() { [native code] }'],
    [
      'an error with a getter that throws',
      Object.defineProperty(new Error('fine'), 'name', { get: () => Object.keys(untouchable) }),
      'fine',
    ],
    ['a lone surrogate', '\ud800', '\ufffd'],
  ])('is a failure with a readable reason when it throws %s (H01, H02)', async (_title, thrown, message) => {
    fixture.registry.register('throw', () => {
      throw thrown;
    });
    fixture.registry.register('reject', async () => {
      throw thrown;
    });
    for (const type of ['throw', 'reject']) {
      const job = await fixture.inState(await fixture.enqueue(type, { maxAttempts: 1 }), 'dead');
      expect(job.error).toMatchObject({ code: 'failed', message });
    }
  });

  it('is retried whatever it throws', async () => {
    let calls = 0;
    const nothing: unknown = null;
    fixture.registry.register('null', () => {
      if (calls++ === 0) throw nothing;
    });
    const id = await fixture.enqueue('null', { backoff: { baseMs: 0 } });
    await fixture.inState(id, 'done');
  });

  it('has a reason cut to a bearable length', async () => {
    fixture.registry.register('huge', () => Promise.reject(new Error('x'.repeat(1_000_000))));
    const job = await fixture.inState(await fixture.enqueue('huge', { maxAttempts: 1 }), 'dead');
    expect(job.error?.message).toHaveLength(2000);
  });

  it.each<[string, () => unknown]>([
    ['a BigInt', () => 1n],
    ['a function', () => () => 1],
    ['a symbol', () => Symbol('s')],
    ['a circular object', () => circular],
    [
      'an object whose toJSON throws',
      () => ({
        toJSON() {
          throw new Error('no');
        },
      }),
    ],
  ])('is a failure, not a loop, when it returns %s (H10)', async (_title, result) => {
    fixture.registry.register('odd', result);
    const job = await fixture.inState(await fixture.enqueue('odd', { maxAttempts: 1 }), 'dead');
    expect(job).toMatchObject({ starts: 1, error: { code: 'failed', message: 'result not serialisable' } });
  });

  it('is a failure when a result is longer than any storage takes', async () => {
    fixture.registry.register('long', () => 'x'.repeat(16 * 1024 * 1024));
    const job = await fixture.inState(await fixture.enqueue('long', { maxAttempts: 1 }), 'dead');
    expect(job.error?.message).toMatch(/^result longer than/);
  });

  it('is a failure when a result is so deep that no reader could write it out', async () => {
    fixture.registry.register('deep', () => {
      let result: unknown[] = [];
      for (let level = 0; level < 2000; level++) result = [result];
      return result;
    });
    const job = await fixture.inState(await fixture.enqueue('deep', { maxAttempts: 1 }), 'dead');
    expect(job.error?.message).toBe('result deeper than 1000 levels');
  });

  it('counts once, whatever a thenable does', async () => {
    fixture.registry.register('thenable', () => ({
      then(resolve: (value: unknown) => void, reject: (error: unknown) => void) {
        resolve('first');
        resolve('second');
        reject(new Error('third'));
      },
    }));
    const job = await fixture.inState(await fixture.enqueue('thenable'), 'done');
    expect(job.result).toBe('"first"');
    expect(fixture.storage.calls.ack + fixture.storage.calls.nack).toBe(1);
  });

  describe('with a time limit', () => {
    it('is `timeout` when the time is over, also for a handler that beats; its signal fires first (C17)', async () => {
      const seen: string[] = [];
      fixture.handle('job');
      const id = await fixture.enqueue('job', { timeoutMs: 1000, maxAttempts: 1 });
      const { ctx } = await fixture.entry(1);
      ctx.signal.addEventListener('abort', () => seen.push(`signal, ${fixture.storage.calls.nack} nacks`));
      fixture.clock.advance(999);
      ctx.heartbeat();
      expect(ctx.signal.aborted).toBe(false);
      fixture.clock.advance(1);
      expect(ctx.signal.reason).toMatchObject({ reason: 'timeout' });
      expect(seen).toEqual(['signal, 0 nacks']);
      const job = await fixture.inState(id, 'dead');
      expect(job).toMatchObject({ attempts: 1, error: { code: 'timeout', message: 'took longer than 1000 ms' } });
      expect((await fixture.queue.stats()).workers).toMatchObject({ healthy: 16, busy: 0, replaced: 1, zombies: 1 });
    });

    it('is tried again after a time-out, and the late end of the first try is refused', async () => {
      fixture.handle('job');
      const id = await fixture.enqueue('job', { timeoutMs: 1000, backoff: { baseMs: 0 } });
      const first = await fixture.entry(1);
      fixture.clock.advance(1000);
      const second = await fixture.entry(2);
      first.resolve('late');
      await until(async () => (await fixture.queue.stats()).staleRejected === 1, 'the refusal');
      second.resolve('in time');
      expect(await fixture.inState(id, 'done')).toMatchObject({ attempts: 1, result: '"in time"' });
    });

    it("uses the handler's limit for jobs without their own, and the job's own before that", async () => {
      fixture.handle('job', { timeoutMs: 500 });
      const short = await fixture.enqueue('job', { maxAttempts: 1 });
      const long = await fixture.enqueue('job', { maxAttempts: 1, timeoutMs: 2000 });
      await fixture.entry(2);
      fixture.clock.advance(500);
      await fixture.inState(short, 'dead');
      fixture.clock.advance(1499);
      await turns();
      expect((await fixture.record(long)).state).toBe('active');
      fixture.clock.advance(1);
      await fixture.inState(long, 'dead');
    });

    it('ends no delivery that follows on the same worker', async () => {
      fixture.handle('job');
      await fixture.enqueue('job', { timeoutMs: 1000 });
      (await fixture.entry(1)).resolve();
      await turns();
      const id = await fixture.enqueue('job');
      await fixture.entry(2);
      fixture.clock.advance(5000);
      await turns();
      expect(await fixture.record(id)).toMatchObject({ state: 'active', attempts: 0 });
    });
  });
});
