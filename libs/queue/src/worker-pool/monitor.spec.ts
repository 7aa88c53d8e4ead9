import { PoolFixture, turns, until, type Entry } from './pool.fixture.js';

const HB = 200;

describe('Monitor', () => {
  let fixture: PoolFixture;

  async function start(options: Parameters<typeof PoolFixture.create>[0] = {}): Promise<void> {
    fixture = await PoolFixture.create({ workers: 2, heartbeatTimeoutMs: HB, ...options });
    fixture.handle('job');
    fixture.pool.start();
  }

  /** Lets time pass in steps in which the given handlers beat. */
  async function pass(ms: number, beating: Entry[] = []): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      fixture.clock.advance(10);
      for (const { ctx } of beating) ctx.heartbeat();
    }
    await turns();
  }

  afterEach(() => fixture.close());

  it('takes the job of a silent worker away, within 1.25 heartbeat time-outs, and gives it to another', async () => {
    await start();
    const id = await fixture.enqueue('job');
    const silent = await fixture.entry(1);
    await pass(HB);
    expect(fixture.entries).toHaveLength(1);
    await pass(HB / 4 + 10);
    const second = await fixture.entry(2);
    expect(second.job).toMatchObject({ id, attempts: 0, requeues: 1 });
    expect(second.ctx.epoch).toBeGreaterThan(silent.ctx.epoch);
    second.resolve('from the second');
    expect(await fixture.inState(id, 'done')).toMatchObject({ starts: 2, attempts: 0, requeues: 1, result: '"from the second"' });
    expect(await fixture.queue.stats()).toMatchObject({ requeued: 1, retried: 0 });
  });

  it('fires the signal of a silent handler with the reason', async () => {
    await start();
    await fixture.enqueue('job');
    const { ctx } = await fixture.entry(1);
    const { signal } = ctx;
    expect(signal.aborted).toBe(false);
    await pass(HB * 1.25 + 10);
    expect(signal.reason).toMatchObject({ name: 'DeliveryEnded', reason: 'hung' });
  });

  it('shows the signal as fired to a handler that looks at it afterwards', async () => {
    await start();
    await fixture.enqueue('job');
    const { ctx } = await fixture.entry(1);
    await pass(HB * 1.25 + 10);
    expect(ctx.signal.reason).toMatchObject({ reason: 'hung' });
  });

  it('refuses and counts the late result of a worker that was replaced, the newer one stays (C01)', async () => {
    await start();
    const id = await fixture.enqueue('job');
    const silent = await fixture.entry(1);
    await pass(HB * 1.25 + 10);
    (await fixture.entry(2)).resolve('new');
    await fixture.inState(id, 'done');
    silent.resolve('old');
    await until(async () => (await fixture.queue.stats()).staleRejected === 1, 'the refusal');
    expect(await fixture.record(id)).toMatchObject({ state: 'done', result: '"new"' });
    expect((await fixture.queue.stats()).workers).toMatchObject({ configured: 2, replaced: 1, zombies: 0 });
  });

  it('refuses a late result also while the second delivery still runs', async () => {
    await start();
    const id = await fixture.enqueue('job');
    const silent = await fixture.entry(1);
    await pass(HB * 1.25 + 10);
    const second = await fixture.entry(2);
    silent.reject(new Error('late'));
    await until(async () => (await fixture.queue.stats()).staleRejected === 1, 'the refusal');
    expect(await fixture.record(id)).toMatchObject({ state: 'active', attempts: 0 });
    second.resolve();
    await fixture.inState(id, 'done');
  });

  it('never requeues a job that beats, however long it runs (C06)', async () => {
    await start();
    const id = await fixture.enqueue('job');
    const entry = await fixture.entry(1);
    await pass(50 * HB, [entry]);
    entry.resolve();
    expect(await fixture.inState(id, 'done')).toMatchObject({ starts: 1, requeues: 0 });
  });

  it.each(['progress', 'log'] as const)('takes %s for a sign of life', async (sign) => {
    await start();
    const id = await fixture.enqueue('job');
    const { ctx, resolve } = await fixture.entry(1);
    for (let i = 0; i < 10; i++) {
      await pass(HB - 10);
      if (sign === 'log') ctx.log(`line ${i}`);
      else ctx.progress(i * 10);
    }
    resolve();
    expect(await fixture.inState(id, 'done')).toMatchObject({ starts: 1, requeues: 0 });
  });

  it('gives good jobs the slots of hung ones, and never has more workers than configured (C11)', async () => {
    await start({ workers: 4, queues: undefined });
    fixture.registry.register('good', () => 'done');
    const hanging = await Promise.all(Array.from({ length: 8 }, () => fixture.enqueue('job', { maxRequeues: 1 })));
    const good = await Promise.all(Array.from({ length: 100 }, () => fixture.enqueue('good')));
    for (let i = 0; i < 40; i++) await pass(HB / 4);
    for (const id of good) expect((await fixture.record(id)).state).toBe('done');
    for (const id of hanging) expect(await fixture.record(id)).toMatchObject({ state: 'dead', requeues: 2, error: { code: 'hung' } });
    expect(fixture.mostBusy).toBeLessThanOrEqual(4);
    const { workers, requeued } = await fixture.queue.stats();
    expect(workers).toEqual({ configured: 4, healthy: 4, busy: 0, replaced: 16, zombies: 16 });
    expect(requeued).toBe(16);
  });

  it('finds a handler whose promise never settles although the event loop turns (C05, H09)', async () => {
    fixture = await PoolFixture.create({ workers: 1, heartbeatTimeoutMs: HB });
    fixture.registry.register('never', () => new Promise(() => undefined));
    fixture.pool.start();
    const id = await fixture.enqueue('never', { maxRequeues: 0 });
    await fixture.inState(id, 'active');
    await pass(HB * 1.25 + 10);
    expect(await fixture.inState(id, 'dead')).toMatchObject({ requeues: 1, attempts: 0, error: { code: 'hung' } });
    expect((await fixture.queue.stats()).workers).toMatchObject({ healthy: 1, busy: 0, replaced: 1, zombies: 1 });
  });

  it("goes by the handler's own heartbeat time-out where it has one", async () => {
    await start();
    fixture.handle('slow', { heartbeatTimeoutMs: 10 * HB });
    const id = await fixture.enqueue('slow');
    await fixture.entry(1);
    await pass(9 * HB);
    expect(await fixture.record(id)).toMatchObject({ state: 'active', requeues: 0 });
    await pass(4 * HB);
    expect((await fixture.record(id)).requeues).toBeGreaterThan(0);
  });

  it('looks often enough for the shortest heartbeat time-out of any handler', async () => {
    await start({ heartbeatTimeoutMs: 100 * HB });
    fixture.handle('quick', { heartbeatTimeoutMs: HB });
    await pass(25 * HB); // The look that was planned before the handler was there.
    await fixture.enqueue('quick');
    await fixture.entry(1);
    await pass(HB * 1.25 + 10);
    await fixture.entry(2);
  });

  it('grants every worker a full period after it was late itself (R8)', async () => {
    await start();
    const id = await fixture.enqueue('job');
    const entry = await fixture.entry(1);
    await pass(HB / 2);
    fixture.clock.stall(50 * HB);
    await pass(HB - 10);
    expect(await fixture.record(id)).toMatchObject({ state: 'active', requeues: 0 });
    entry.ctx.heartbeat();
    await pass(HB - 10);
    expect(await fixture.record(id)).toMatchObject({ state: 'active', requeues: 0 });
    await pass(HB);
    expect((await fixture.record(id)).requeues).toBe(1);
  });

  it('still finds a hung worker when the event loop stutters all the time', async () => {
    await start();
    const id = await fixture.enqueue('job');
    await fixture.entry(1);
    let lateMs = 0;
    for (let i = 0; (await fixture.record(id)).requeues === 0; i++) {
      fixture.clock.stall(HB / 4 + 5);
      lateMs += HB / 4 + 5;
      await pass(HB / 4);
      if (i > 30) throw new Error('never found');
    }
    expect(fixture.clock.monoMs()).toBeLessThanOrEqual(2.5 * HB + lateMs);
  });

  it('leaves silent workers alone with the health check off', async () => {
    await start({ healthCheck: false });
    const id = await fixture.enqueue('job');
    const entry = await fixture.entry(1);
    await pass(20 * HB);
    expect(await fixture.record(id)).toMatchObject({ state: 'active', requeues: 0 });
    expect((await fixture.queue.stats()).workers).toMatchObject({ configured: 2, healthy: 1, busy: 1, replaced: 0 });
    entry.resolve();
    await fixture.inState(id, 'done');
  });

  it('does not touch a fresh delivery when the verdict meets the end of the old one (C04)', async () => {
    const hbMs = 20;
    await start({ workers: 4, heartbeatTimeoutMs: hbMs });
    const jobs = 200;
    const ids = await Promise.all(
      Array.from({ length: jobs }, () =>
        fixture.enqueue('job', { maxRequeues: 1000, maxAttempts: 1000, backoff: { baseMs: 0, capMs: 0 } }),
      ),
    );
    // Each handler ends within 5 ms before or after the moment at which its worker is judged; every third attempt fails.
    let ended = 0;
    const due: { at: number; entry: Entry; fails: boolean }[] = [];
    for (let step = 0; step < 200_000 && (await fixture.queue.stats()).counts.done < jobs; step++) {
      while (ended + due.length < fixture.entries.length) {
        const n = ended + due.length;
        due.push({ at: fixture.clock.monoMs() + hbMs * 1.25 - 5 + (n % 11), entry: fixture.entries[n]!, fails: n % 3 === 0 });
      }
      fixture.clock.advance(1);
      for (const one of due.filter(({ at }) => at <= fixture.clock.monoMs())) {
        due.splice(due.indexOf(one), 1);
        ended++;
        if (one.fails) one.entry.reject(new Error('no'));
        else one.entry.resolve();
      }
      await turns(2);
    }
    const { staleRejected, requeued, retried, workers } = await fixture.queue.stats();
    let starts = 0;
    for (const id of ids) {
      const job = await fixture.record(id);
      expect(job.starts).toBe(job.attempts + job.requeues + job.releases + 1);
      starts += job.starts;
    }
    // Every delivery that began is accounted for: once done, failed, or taken away and its late end refused.
    expect(starts).toBe(jobs + retried + requeued);
    expect(requeued).toBeGreaterThan(0);
    expect(staleRejected + workers.zombies).toBe(requeued);
    expect(fixture.mostBusy).toBeLessThanOrEqual(4);
  });
});
