import { OrchdError } from '@orchd/storage';
import { DiscardJob, SnoozeJob } from '../handler/thrown-verdict.js';
import { PoolFixture, turns, until } from './pool.fixture.js';

describe('WorkerPool', () => {
  let fixture: PoolFixture;

  afterEach(() => fixture.close());

  it('runs a job and keeps what its handler returned', async () => {
    fixture = await PoolFixture.create();
    fixture.registry.register('double', (job) => ({ twice: 2 * (job.payload as { n: number }).n }));
    fixture.pool.start();
    const id = await fixture.enqueue('double', { payload: { n: 21 } });
    await fixture.inState(id, 'done');
    expect(await fixture.queue.get(id)).toMatchObject({ state: 'done', result: { twice: 42 }, starts: 1, attempts: 0 });
  });

  it('keeps no result for a handler that returns nothing', async () => {
    fixture = await PoolFixture.create();
    fixture.registry.register('quiet', () => undefined);
    fixture.pool.start();
    const { result } = await fixture.inState(await fixture.enqueue('quiet'), 'done');
    expect(result).toBeNull();
  });

  it('tells the handler epoch and attempt of its delivery', async () => {
    fixture = await PoolFixture.create();
    fixture.handle('job');
    fixture.pool.start();
    await fixture.enqueue('job');
    const first = await fixture.entry(1);
    expect(first.ctx.attempt).toBe(1);
    first.reject(new Error('once more'));
    await until(() => fixture.storage.calls.nack === 1, 'the nack');
    fixture.clock.advance(10);
    const second = await fixture.entry(2);
    expect(second.ctx.attempt).toBe(2);
    expect(second.ctx.epoch).toBeGreaterThan(first.ctx.epoch);
    second.resolve();
  });

  it('never has more jobs than workers, and none waits while a worker is free', async () => {
    fixture = await PoolFixture.create({ workers: 3 });
    fixture.handle('job');
    for (let i = 0; i < 10; i++) await fixture.enqueue('job');
    fixture.pool.start();
    for (let done = 0; done < 10; done++) {
      await fixture.entry(Math.min(10, done + 3));
      expect((await fixture.queue.stats()).counts.active).toBe(Math.min(3, 10 - done));
      fixture.entries[done]!.resolve();
      await until(async () => (await fixture.queue.stats()).counts.done === done + 1, 'the ack');
    }
    expect(fixture.mostBusy).toBeLessThanOrEqual(3);
  });

  it('claims for all workers that became free in one turn at once', async () => {
    fixture = await PoolFixture.create({ workers: 8 });
    let left = 80;
    fixture.registry.register('noop', () => void left--);
    await fixture.queue.enqueueMany(Array.from({ length: 80 }, () => ({ type: 'noop' })));
    fixture.pool.start();
    await until(() => left === 0, 'all jobs');
    // One more waits for the next job.
    await turns();
    expect(fixture.storage.calls.claim).toBe(11);
  });

  it('lets timers and I/O through while jobs finish at once', async () => {
    fixture = await PoolFixture.create({ workers: 1 });
    const order: string[] = [];
    fixture.registry.register('noop', () => void order.push('job'));
    await fixture.queue.enqueueMany(Array.from({ length: 50 }, () => ({ type: 'noop' })));
    setImmediate(() => order.push('other work'));
    fixture.pool.start();
    await until(() => order.length === 51, 'all jobs');
    expect(order.indexOf('other work')).toBeLessThan(5);
  });

  it('does not wait for an ack before the next job', async () => {
    fixture = await PoolFixture.create({ workers: 1 });
    fixture.handle('job');
    fixture.storage.hang('ack');
    await fixture.enqueue('job');
    await fixture.enqueue('job');
    fixture.pool.start();
    (await fixture.entry(1)).resolve();
    await fixture.entry(2);
    expect(fixture.storage.calls.ack).toBe(1);
  });

  it('asks for the next job in the turn of the ack, before a storage that writes at its end has begun to', async () => {
    fixture = await PoolFixture.create({ workers: 1 });
    fixture.handle('job');
    const order: string[] = [];
    const { ack, claim } = fixture.storage;
    fixture.storage.ack = (...args) => {
      order.push('ack');
      setImmediate(() => order.push('write'));
      return ack.apply(fixture.storage, args);
    };
    fixture.storage.claim = (...args) => (order.push('claim'), claim.apply(fixture.storage, args));
    fixture.pool.start();
    await fixture.enqueue('job');
    const { resolve } = await fixture.entry(1);
    order.length = 0;
    resolve();
    await turns();
    expect(order).toEqual(['ack', 'claim', 'write']);
  });

  it('serves each queue with its own workers', async () => {
    fixture = await PoolFixture.create({ queues: { default: 1, mail: 2 } });
    fixture.handle('job');
    fixture.handle('mail', { queue: 'mail' });
    fixture.pool.start();
    await fixture.enqueue('job');
    await fixture.enqueue('job');
    for (let i = 0; i < 3; i++) await fixture.enqueue('mail');
    await fixture.entry(3);
    await turns();
    expect(fixture.entries.map(({ job }) => job.queue).sort()).toEqual(['default', 'mail', 'mail']);
  });

  it('tries a failed job again after its backoff, and counts it', async () => {
    fixture = await PoolFixture.create();
    fixture.handle('job');
    fixture.pool.start();
    const id = await fixture.enqueue('job', { backoff: { baseMs: 1000 } });
    (await fixture.entry(1)).reject(new Error('no'));
    expect(await fixture.inState(id, 'delayed')).toMatchObject({ attempts: 1, error: { code: 'failed', message: 'no' } });
    fixture.clock.advance(999);
    await turns();
    expect(fixture.entries).toHaveLength(1);
    fixture.clock.advance(1);
    (await fixture.entry(2)).resolve();
    expect(await fixture.inState(id, 'done')).toMatchObject({ starts: 2, attempts: 1 });
    expect(await fixture.queue.stats()).toMatchObject({ submitted: 1, retried: 1 });
  });

  it('makes a job dead after its last attempt, at once when it has only one', async () => {
    fixture = await PoolFixture.create();
    fixture.registry.register('fail', () => Promise.reject(new TypeError('never')));
    fixture.pool.start();
    const id = await fixture.enqueue('fail', { maxAttempts: 1 });
    expect(await fixture.inState(id, 'dead')).toMatchObject({ attempts: 1, error: { code: 'failed', message: 'TypeError: never' } });
    expect((await fixture.queue.stats()).retried).toBe(0);
  });

  it('runs a redriven job from attempt 1 again', async () => {
    fixture = await PoolFixture.create();
    fixture.handle('job');
    fixture.pool.start();
    const id = await fixture.enqueue('job', { maxAttempts: 1 });
    (await fixture.entry(1)).reject(new Error('no'));
    await fixture.inState(id, 'dead');
    await fixture.queue.redrive(id);
    const second = await fixture.entry(2);
    expect(second.ctx.attempt).toBe(1);
    second.resolve();
    await fixture.inState(id, 'done');
  });

  it('makes a discarded job dead at once', async () => {
    fixture = await PoolFixture.create();
    fixture.registry.register('discard', () => Promise.reject(new DiscardJob('no such user')));
    fixture.pool.start();
    const record = await fixture.inState(await fixture.enqueue('discard'), 'dead');
    expect(record).toMatchObject({ attempts: 1, error: { code: 'discarded', message: 'no such user' } });
  });

  it('brings a snoozed job back later without charging an attempt', async () => {
    fixture = await PoolFixture.create();
    fixture.handle('job');
    fixture.pool.start();
    const id = await fixture.enqueue('job', { maxAttempts: 1 });
    (await fixture.entry(1)).reject(new SnoozeJob(5000));
    expect(await fixture.inState(id, 'delayed')).toMatchObject({ attempts: 0, releases: 1 });
    fixture.clock.advance(5000);
    const again = await fixture.entry(2);
    expect(again.ctx.attempt).toBe(1);
  });

  it('charges a job without handler an attempt, and comes back to it after a second at the earliest', async () => {
    fixture = await PoolFixture.create();
    fixture.pool.start();
    const id = await fixture.enqueueRaw({ type: 'unknown' });
    expect(await fixture.inState(id, 'delayed')).toMatchObject({ attempts: 1, error: { code: 'no_handler' } });
    fixture.clock.advance(999);
    await turns();
    expect((await fixture.record(id)).attempts).toBe(1);
    fixture.clock.advance(1);
    await until(async () => (await fixture.record(id)).attempts === 2, 'the second try');
  });

  it('fails a job whose payload is no JSON, put there past the queue', async () => {
    fixture = await PoolFixture.create();
    fixture.handle('job');
    fixture.pool.start();
    const id = await fixture.enqueueRaw({ payload: '{', maxAttempts: 1 });
    expect((await fixture.inState(id, 'dead')).error?.message).toBe('the payload is not JSON');
    expect(await fixture.queue.get(id)).toMatchObject({ payload: '{' });
  });

  it('waits for a storage that cannot be claimed from, and goes on', async () => {
    fixture = await PoolFixture.create();
    fixture.handle('job');
    fixture.storage.fail('claim', new OrchdError('storage_unavailable', 'gone'));
    fixture.pool.start();
    await fixture.enqueue('job');
    for (let tries = 1; tries < 12; tries++) {
      await until(() => fixture.storage.calls.claim === tries, `try ${tries}`);
      fixture.clock.advance(1000);
    }
    fixture.storage.heal('claim');
    fixture.clock.advance(1000);
    await fixture.entry(1);
    expect(fixture.logged.filter((line) => line.includes('cannot claim'))).toHaveLength(1);
  });

  it('does not ask a storage that answers at once with nothing in a circle', async () => {
    fixture = await PoolFixture.create();
    fixture.storage.claim = () => (fixture.storage.calls.claim++, Promise.resolve([]));
    fixture.pool.start();
    await turns(50);
    expect(fixture.storage.calls.claim).toBe(1);
    fixture.clock.advance(10);
    await turns(50);
    expect(fixture.storage.calls.claim).toBe(2);
  });

  it('polls again when a long poll ends empty', async () => {
    fixture = await PoolFixture.create();
    fixture.handle('job');
    fixture.pool.start();
    for (let i = 1; i <= 3; i++) {
      await until(() => fixture.storage.calls.claim === i, `poll ${i}`);
      fixture.clock.advance(10_000);
    }
    await fixture.enqueue('job');
    await fixture.entry(1);
  });

  it.each([
    [{ workers: 0 }, 'workers'],
    [{ queues: {} }, 'queues'],
    [{ queues: { 'a b': 1 } }, 'queues'],
    [{ queues: { mail: 1.5 } }, 'queues.mail'],
    [{ queues: { mail: 1 }, workers: 4 }, 'workers'],
    [{ heartbeatTimeoutMs: 0 }, 'heartbeatTimeoutMs'],
    [{ leaseMs: NaN }, 'leaseMs'],
    [{ shutdownGraceMs: -1 }, 'shutdownGraceMs'],
    [{ keepFinished: '1' as never }, 'keepFinished'],
  ])('refuses %j by name', async (options, field) => {
    fixture = await PoolFixture.create();
    await expect(PoolFixture.create(options)).rejects.toMatchObject({ code: 'invalid_argument', field });
  });
});
