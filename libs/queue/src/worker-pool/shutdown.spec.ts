import { OrchdError } from '@orchd/storage';
import { PoolFixture, turns, until } from './pool.fixture.js';

const GRACE = 5000;

describe('Shutting down a worker pool', () => {
  let fixture: PoolFixture;
  let stopped: boolean;

  async function start(jobs: number): Promise<string[]> {
    fixture = await PoolFixture.create({ shutdownGraceMs: GRACE });
    fixture.handle('job');
    fixture.pool.start();
    const ids: string[] = [];
    for (let i = 0; i < jobs; i++) ids.push(await fixture.enqueue('job'));
    if (jobs > 0) await fixture.entry(jobs);
    return ids;
  }

  function stop(): Promise<void> {
    stopped = false;
    return fixture.pool.stop().then(() => void (stopped = true));
  }

  afterEach(async () => {
    await fixture.close();
    expect(fixture.clock.pendingTimers).toBe(0);
  });

  it('records what ends in time, success and failure, and gives the rest back at once, uncharged (B01)', async () => {
    const ids = await start(12);
    const stopping = stop();
    fixture.clock.advance(GRACE / 2);
    for (let i = 0; i < 4; i++) fixture.entries[i]!.resolve(i);
    for (let i = 4; i < 8; i++) fixture.entries[i]!.reject(new Error('no'));
    await turns();
    expect(stopped).toBe(false);
    fixture.clock.advance(GRACE / 2);
    await stopping;
    const records = await Promise.all(ids.map((id) => fixture.record(id)));
    for (const record of records.slice(0, 4)) expect(record).toMatchObject({ state: 'done' });
    for (const record of records.slice(4, 8)) expect(record).toMatchObject({ state: 'delayed', attempts: 1 });
    for (const record of records.slice(8)) expect(record).toMatchObject({ state: 'ready', attempts: 0, requeues: 0, releases: 1 });
    for (const { ctx } of fixture.entries.slice(8)) expect(ctx.signal.reason).toMatchObject({ reason: 'shutdown' });
  });

  it('ends as soon as the last job is over', async () => {
    const [id] = await start(1);
    const stopping = stop();
    fixture.entries[0]!.resolve();
    await stopping;
    expect(await fixture.record(id!)).toMatchObject({ state: 'done' });
  });

  it('ends at once when nothing runs', async () => {
    await start(0);
    await stop();
  });

  it('claims nothing from the first step on', async () => {
    await start(1);
    fixture.pool.drain();
    await fixture.enqueueRaw({});
    fixture.entries[0]!.resolve();
    await turns();
    expect(fixture.entries).toHaveLength(1);
    expect((await fixture.storage.counts()).ready).toBe(1);
  });

  it('gives back a job that a claim brings after it was called off', async () => {
    fixture = await PoolFixture.create();
    fixture.handle('job');
    const claim = fixture.storage.claim.bind(fixture.storage);
    const late = new Promise<void>((resolve) => {
      fixture.storage.claim = async (request) => {
        const jobs = await claim({ ...request, signal: undefined, waitMs: 0 });
        if (jobs.length > 0) {
          fixture.pool.drain();
          resolve();
        }
        return jobs;
      };
    });
    const id = await fixture.enqueueRaw({});
    fixture.pool.start();
    await late;
    await stop();
    expect(fixture.entries).toHaveLength(0);
    expect(await fixture.record(id)).toMatchObject({ state: 'ready', releases: 1, attempts: 0 });
  });

  it('refuses new jobs while draining, and still reads and cancels', async () => {
    const [id] = await start(1);
    const waiting = await fixture.enqueue('job', { delayMs: 1000 });
    fixture.pool.drain();
    await expect(fixture.queue.enqueue({ type: 'job' })).rejects.toMatchObject({ code: 'draining' });
    await expect(fixture.queue.enqueueMany([{ type: 'job' }])).rejects.toMatchObject({ code: 'draining' });
    await expect(fixture.queue.redrive(id!)).rejects.toMatchObject({ code: 'draining' });
    expect(await fixture.queue.get(id!)).toMatchObject({ state: 'active' });
    expect((await fixture.queue.list()).jobs).toHaveLength(2);
    expect(await fixture.queue.cancel(waiting)).toMatchObject({ state: 'cancelled' });
  });

  it('goes on watching while it waits: a hung job is still requeued', async () => {
    fixture = await PoolFixture.create({ shutdownGraceMs: GRACE, heartbeatTimeoutMs: 200 });
    fixture.handle('job');
    fixture.pool.start();
    const id = await fixture.enqueue('job');
    await fixture.entry(1);
    const stopping = stop();
    fixture.clock.advance(260);
    await stopping;
    expect(await fixture.record(id)).toMatchObject({ state: 'ready', requeues: 1, releases: 0 });
  });

  it('does not wait longer when it is hurried', async () => {
    const [id] = await start(1);
    const stopping = stop();
    await turns();
    fixture.pool.hurry();
    await stopping;
    expect(await fixture.record(id!)).toMatchObject({ state: 'ready', releases: 1 });
  });

  it.each(['fail', 'hang'] as const)('ends within grace and a second when the storage is gone (%s) (B05)', async (fault) => {
    await start(2);
    for (const verb of ['ack', 'release', 'extend', 'claim', 'requeue'] as const) {
      if (fault === 'fail') fixture.storage.fail(verb, new OrchdError('storage_unavailable', 'gone'));
      else fixture.storage.hang(verb);
    }
    fixture.entries[0]!.resolve();
    const stopping = stop();
    await turns();
    fixture.clock.advance(GRACE);
    await turns();
    expect(stopped).toBe(false);
    fixture.clock.advance(1000);
    await stopping;
    expect(fixture.logged.at(-1)).toMatch(fault === 'fail' ? /did not answer|given up/ : /did not answer/);
  });

  it('sends the late result of a handler that outlives it, and survives the refusal', async () => {
    await start(1);
    fixture.pool.hurry();
    await stop();
    fixture.entries[0]!.resolve('late');
    await until(async () => (await fixture.queue.stats()).staleRejected === 1, 'the refusal');
    expect((await fixture.queue.stats()).workers.zombies).toBe(0);
  });

  it('may be stopped twice, and before it was started', async () => {
    fixture = await PoolFixture.create();
    await Promise.all([fixture.pool.stop(), fixture.pool.stop()]);
    fixture.pool.start();
    fixture.handle('job');
    await fixture.enqueueRaw({});
    await turns();
    expect(fixture.entries).toHaveLength(0);
  });
});
