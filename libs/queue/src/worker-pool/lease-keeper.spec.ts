import { OrchdError, type ExtendRequest } from '@orchd/storage';
import { PoolFixture, turns, until } from './pool.fixture.js';

describe('LeaseKeeper', () => {
  let fixture: PoolFixture;
  let extended: (readonly ExtendRequest[])[];

  async function start(options: Parameters<typeof PoolFixture.create>[0] = {}, shared = false): Promise<void> {
    fixture = await PoolFixture.create({ leaseMs: 9000, ...options });
    if (shared) fixture.storage.share();
    extended = [];
    const extend = fixture.storage.extend.bind(fixture.storage);
    fixture.storage.extend = (requests, leaseMs) => (extended.push(requests), extend(requests, leaseMs));
    fixture.handle('job');
    fixture.pool.start();
  }

  afterEach(() => fixture.close());

  it('prolongs all leases of the process with one call, every third of a lease', async () => {
    await start();
    for (let i = 0; i < 3; i++) await fixture.enqueue('job');
    await fixture.entry(3);
    for (let s = 0; s < 12; s++) {
      fixture.clock.advance(1000);
      await turns();
    }
    expect(extended.map((requests) => requests.length)).toEqual([3, 3, 3, 3]);
  });

  it('costs a short job nothing', async () => {
    await start();
    for (let s = 0; s < 20; s++) {
      await fixture.enqueue('job');
      (await fixture.entry(s + 1)).resolve();
      fixture.clock.advance(1000);
      await turns();
    }
    expect(extended).toEqual([]);
  });

  it('ends a delivery whose lease was lost: signal, new worker, late result refused', async () => {
    await start();
    const id = await fixture.enqueue('job');
    const first = await fixture.entry(1);
    await fixture.storage.requeue(first.lease, 'lease_expired');
    const second = await fixture.entry(2);
    fixture.clock.advance(3000);
    await until(() => first.ctx.signal.aborted, 'the signal');
    expect(first.ctx.signal.reason).toMatchObject({ reason: 'lease_lost' });
    expect(second.ctx.signal.aborted).toBe(false);
    expect((await fixture.queue.stats()).workers).toMatchObject({ busy: 1, replaced: 1, zombies: 1 });
    first.resolve('old');
    second.resolve('new');
    expect(await fixture.inState(id, 'done')).toMatchObject({ result: '"new"' });
    expect(await fixture.queue.stats()).toMatchObject({ staleRejected: 1, requeued: 0, workers: { zombies: 0 } });
  });

  it('does not blame the next job of a worker for an answer about the one before', async () => {
    await start({ workers: 1 });
    await fixture.enqueue('job');
    const first = await fixture.entry(1);
    fixture.clock.advance(2900);
    let answer!: (outcomes: 'lost'[]) => void;
    fixture.storage.extend = () => new Promise((resolve) => (answer = resolve));
    fixture.clock.advance(1000);
    first.resolve();
    await fixture.enqueue('job');
    const second = await fixture.entry(2);
    answer(['lost']);
    await turns();
    expect(second.ctx.signal.aborted).toBe(false);
    expect((await fixture.queue.stats()).workers).toMatchObject({ busy: 1, replaced: 0 });
  });

  describe('notes', () => {
    it('reach the storage while the job runs, at most once a second, only the last lines (H15)', async () => {
      await start();
      const id = await fixture.enqueue('job');
      const { ctx } = await fixture.entry(1);
      for (let i = 0; i < 10_000; i++) {
        ctx.progress(i / 100, `step ${i}`);
        ctx.log(`line ${i}`);
        if (i % 1000 !== 999) continue;
        fixture.clock.advance(250);
        await turns();
      }
      expect(extended.length).toBe(2);
      const record = await fixture.record(id);
      expect(record.progress).toEqual({ percent: 79.99, note: 'step 7999' });
      expect(record.log).toHaveLength(20);
      expect(record.log.at(-1)).toBe('line 7999');
      for (const [request] of extended) expect(request!.log).toHaveLength(20);
    });

    it('are told before the job is done', async () => {
      await start();
      const id = await fixture.enqueue('job');
      const { ctx, resolve } = await fixture.entry(1);
      ctx.progress(100);
      ctx.log('finished');
      resolve();
      expect(await fixture.inState(id, 'done')).toMatchObject({ progress: { percent: 100, note: null }, log: ['finished'] });
    });

    it('are told before the job has failed', async () => {
      await start();
      const id = await fixture.enqueue('job', { maxAttempts: 1 });
      const { ctx, reject } = await fixture.entry(1);
      ctx.log('about to fail');
      reject(new Error('no'));
      expect(await fixture.inState(id, 'dead')).toMatchObject({ log: ['about to fail'] });
    });

    it('are mended rather than refused: a storage would refuse the leases of all jobs with them', async () => {
      await start();
      const id = await fixture.enqueue('job');
      const other = await fixture.enqueue('job');
      const { ctx, resolve } = await fixture.entry(1);
      ctx.progress(1000, '\ud800'.repeat(10_000));
      ctx.log(undefined as never);
      expect(() => ctx.progress(NaN)).toThrow(expect.objectContaining({ code: 'invalid_argument', field: 'percent' }));
      fixture.clock.advance(3000);
      await turns();
      const record = await fixture.record(id);
      expect(record.progress).toEqual({ percent: 100, note: '\ufffd'.repeat(500) });
      expect(record.log).toEqual(['undefined']);
      expect((await fixture.record(other)).state).toBe('active');
      resolve();
    });
  });

  describe('cancel', () => {
    it('fires the signal at once; a handler that ends by itself is cancelled and its worker stays', async () => {
      await start();
      const id = await fixture.enqueue('job');
      const { ctx, reject } = await fixture.entry(1);
      expect(await fixture.queue.cancel(id)).toMatchObject({ state: 'active', cancelRequested: true });
      expect(ctx.signal.reason).toMatchObject({ reason: 'cancelled' });
      reject(ctx.signal.reason);
      await fixture.inState(id, 'cancelled');
      expect(await fixture.queue.stats()).toMatchObject({ retried: 0, staleRejected: 0, workers: { replaced: 0, zombies: 0 } });
    });

    it('makes a job cancelled also when its handler succeeds, and that is no stale result', async () => {
      await start();
      const id = await fixture.enqueue('job');
      const { resolve } = await fixture.entry(1);
      await fixture.queue.cancel(id);
      resolve('too late');
      expect(await fixture.inState(id, 'cancelled')).toMatchObject({ result: null });
      expect((await fixture.queue.stats()).staleRejected).toBe(0);
    });

    it('ends a handler that does not listen after a second, and replaces its worker', async () => {
      await start({ workers: 1 });
      const id = await fixture.enqueue('job');
      await fixture.entry(1);
      await fixture.queue.cancel(id);
      fixture.clock.advance(999);
      await turns();
      expect((await fixture.record(id)).state).toBe('active');
      fixture.clock.advance(1);
      expect(await fixture.inState(id, 'cancelled')).toMatchObject({ attempts: 0, starts: 1 });
      expect((await fixture.queue.stats()).workers).toMatchObject({ healthy: 1, busy: 0, replaced: 1, zombies: 1 });
      await fixture.enqueue('job');
      await fixture.entry(2);
    });

    it('does not put off a time-out that comes before that second is over', async () => {
      await start();
      const id = await fixture.enqueue('job', { timeoutMs: 500 });
      await fixture.entry(1);
      await fixture.queue.cancel(id);
      fixture.clock.advance(500);
      expect(await fixture.inState(id, 'cancelled')).toMatchObject({ attempts: 0, error: { code: 'timeout' } });
    });

    it('is learned from the next extend when nobody told', async () => {
      await start();
      fixture.storage.subscribe = () => () => undefined;
      const quiet = fixture.storage as unknown as { emit(event: unknown): void };
      quiet.emit = () => undefined;
      const id = await fixture.enqueue('job');
      const { ctx } = await fixture.entry(1);
      await fixture.queue.cancel(id);
      expect(ctx.signal.aborted).toBe(false);
      fixture.clock.advance(3000);
      await until(() => ctx.signal.aborted, 'the signal');
      fixture.clock.advance(1000);
      await fixture.inState(id, 'cancelled');
    });
  });

  describe('on a shared storage', () => {
    const gone = new OrchdError('storage_unavailable', 'gone');

    it.each(['fail', 'hang'] as const)('stops a worker before its lease ends when extend cannot prolong it (%s)', async (fault) => {
      await start({}, true);
      await fixture.enqueue('job');
      const { ctx } = await fixture.entry(1);
      if (fault === 'fail') fixture.storage.fail('extend', gone);
      else fixture.storage.hang('extend');
      let passed = 0;
      for (; !ctx.signal.aborted && passed < 9000; passed += 100) {
        fixture.clock.advance(100);
        await turns();
      }
      expect(ctx.signal.reason).toMatchObject({ reason: 'lease_lost' });
      expect(passed).toBeLessThan(9000);
      expect(passed).toBeGreaterThan(9000 / 2);
      expect(fixture.logged.filter((line) => line.startsWith('leases cannot be prolonged'))).toHaveLength(fault === 'fail' ? 1 : 0);
    });

    it('counts from the last extend that was granted', async () => {
      await start({}, true);
      await fixture.enqueue('job');
      const { ctx } = await fixture.entry(1);
      for (let s = 0; s < 30; s++) {
        fixture.clock.advance(1000);
        await turns();
      }
      expect(ctx.signal.aborted).toBe(false);
      fixture.storage.fail('extend', gone);
      for (let s = 0; s < 9; s++) {
        fixture.clock.advance(1000);
        await turns();
      }
      expect(ctx.signal.aborted).toBe(true);
    });

    it('asks the storage first after a long sleep, it may have kept the lease (R8)', async () => {
      await start({}, true);
      await fixture.enqueue('job');
      const { ctx } = await fixture.entry(1);
      fixture.clock.stall(60_000);
      fixture.clock.advance(1000);
      await turns();
      expect(extended.length).toBeGreaterThan(0);
      fixture.clock.advance(1000);
      await turns();
      expect(ctx.signal.aborted).toBe(false);
    });
  });

  it('leaves workers of a storage that is not shared at work when extend fails: nobody else can have their jobs', async () => {
    await start();
    await fixture.enqueue('job');
    const { ctx } = await fixture.entry(1);
    fixture.storage.fail('extend', new OrchdError('storage_unavailable', 'gone'));
    for (let s = 0; s < 20; s++) {
      fixture.clock.advance(1000);
      ctx.heartbeat();
      await turns();
    }
    expect(ctx.signal.aborted).toBe(false);
  });
});
