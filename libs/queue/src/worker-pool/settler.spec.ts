import { OrchdError } from '@orchd/storage';
import { PoolFixture, turns, until } from './pool.fixture.js';

const unknown = new OrchdError('outcome_unknown', 'no answer');

describe('Settler', () => {
  let fixture: PoolFixture;

  async function start(shared = false): Promise<void> {
    fixture = await PoolFixture.create({ leaseMs: 9000 });
    if (shared) fixture.storage.share();
    fixture.handle('job');
    fixture.pool.start();
  }

  afterEach(() => fixture.close());

  it.each(['outcome_unknown', 'storage_unavailable', 'storage_full', 'storage_busy', 'storage_slow'] as const)(
    'repeats a settle that was answered %s, until it is taken',
    async (code) => {
      await start();
      const id = await fixture.enqueue('job');
      fixture.storage.fail('ack', new OrchdError(code, 'not now'));
      (await fixture.entry(1)).resolve('kept');
      for (let tries = 1; tries < 20; tries++) {
        await until(() => fixture.storage.calls.ack === tries, `try ${tries}`);
        await turns();
        fixture.clock.advance(1000);
      }
      await turns();
      fixture.storage.heal('ack');
      fixture.clock.advance(1000);
      expect(await fixture.inState(id, 'done')).toMatchObject({ result: '"kept"', starts: 1 });
      expect(fixture.logged.filter((line) => line.includes('is not known'))).toHaveLength(1);
    },
  );

  it('makes a failure of an end that the storage will never take, so that the job does not stay active', async () => {
    await start();
    const id = await fixture.enqueue('job', { maxAttempts: 1 });
    fixture.storage.fail('ack', new OrchdError('invalid_argument', 'result: must be well-formed Unicode'));
    (await fixture.entry(1)).resolve('odd');
    const message = 'its end could not be kept: result: must be well-formed Unicode';
    expect(await fixture.inState(id, 'dead')).toMatchObject({ attempts: 1, error: { code: 'failed', message } });
    expect(fixture.storage.calls.ack).toBe(1);
  });

  it('gives up where not even that is taken', async () => {
    await start();
    await fixture.enqueue('job');
    for (const verb of ['ack', 'nack'] as const) fixture.storage.fail(verb, new OrchdError('invalid_argument', 'no'));
    (await fixture.entry(1)).resolve('odd');
    await until(() => fixture.logged.some((line) => line.includes('given up')), 'the last word');
    expect(fixture.storage.calls).toMatchObject({ ack: 1, nack: 1 });
  });

  it('repeats failures, too, and counts the retry once', async () => {
    await start();
    const id = await fixture.enqueue('job');
    fixture.storage.fail('nack', unknown);
    (await fixture.entry(1)).reject(new Error('no'));
    await until(() => fixture.storage.calls.nack === 1, 'the first try');
    fixture.storage.heal('nack');
    fixture.clock.advance(1000);
    await until(async () => (await fixture.record(id)).attempts === 1, 'the nack');
    expect((await fixture.queue.stats()).retried).toBe(1);
  });

  it('keeps at the requeue of a hung job: nobody else could take it away', async () => {
    fixture = await PoolFixture.create({ heartbeatTimeoutMs: 200 });
    fixture.handle('job');
    fixture.pool.start();
    const id = await fixture.enqueue('job');
    await fixture.entry(1);
    fixture.storage.fail('requeue', unknown);
    fixture.clock.advance(260);
    await until(() => fixture.storage.calls.requeue === 1, 'the first try');
    fixture.storage.heal('requeue');
    fixture.clock.advance(20);
    await fixture.entry(2);
    expect(await fixture.record(id)).toMatchObject({ requeues: 1 });
    expect((await fixture.queue.stats()).requeued).toBe(1);
  });

  it('gives up with the lease on a shared storage, where the job comes back by itself', async () => {
    await start(true);
    await fixture.enqueue('job');
    fixture.storage.fail('ack', unknown);
    (await fixture.entry(1)).resolve();
    for (let s = 0; s < 15; s++) {
      await turns();
      fixture.clock.advance(1000);
    }
    const { ack } = fixture.storage.calls;
    fixture.clock.advance(10_000);
    await turns();
    expect(fixture.storage.calls.ack).toBe(ack);
    expect(fixture.logged.filter((line) => line.includes('given up'))).toHaveLength(1);
  });

  it('does not repeat what no time will cure', async () => {
    await start();
    await fixture.enqueue('job');
    fixture.storage.fail('ack', new Error('a bug in an adapter'));
    (await fixture.entry(1)).resolve();
    await until(() => fixture.logged.some((line) => line.includes('given up')), 'the log line');
    fixture.clock.advance(10_000);
    await turns();
    expect(fixture.storage.calls.ack).toBe(1);
  });

  it('counts a lost lease and leaves it at that', async () => {
    await start();
    await fixture.enqueue('job');
    fixture.storage.fail('ack', new OrchdError('lease_lost', 'not yours'));
    (await fixture.entry(1)).resolve();
    await until(async () => (await fixture.queue.stats()).staleRejected === 1, 'the count');
    fixture.clock.advance(10_000);
    await turns();
    expect(fixture.storage.calls.ack).toBe(1);
  });
});
