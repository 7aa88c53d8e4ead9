import { LIMITS, type PrunePolicy } from '@orchd/storage';
import { PoolFixture, turns, until } from '../worker-pool/pool.fixture.js';

describe('Maintenance by a worker pool', () => {
  let fixture: PoolFixture;

  afterEach(() => fixture.close());

  it('reaps on a shared storage twice a second, goes on while there is more, and counts it', async () => {
    fixture = await PoolFixture.create();
    fixture.storage.share();
    const answers = [100, 100, 7];
    fixture.storage.reap = () => Promise.resolve(answers.shift() ?? 0);
    fixture.pool.start();
    fixture.clock.advance(600);
    await until(() => answers.length === 0, 'three reaps');
    await turns();
    expect((await fixture.queue.stats()).requeued).toBe(207);
  });

  it('never reaps on a storage of its own (R8)', async () => {
    fixture = await PoolFixture.create();
    let reaps = 0;
    fixture.storage.reap = () => (reaps++, Promise.resolve(0));
    fixture.pool.start();
    for (let i = 0; i < 10; i++) {
      fixture.clock.advance(1000);
      await turns();
    }
    expect(reaps).toBe(0);
  });

  it('prolongs its own leases before it reaps when it was late itself (R8)', async () => {
    fixture = await PoolFixture.create();
    fixture.storage.share();
    fixture.handle('job');
    const order: string[] = [];
    const extend = fixture.storage.extend.bind(fixture.storage);
    fixture.storage.extend = async (...args) => {
      const outcomes = await extend(...args);
      order.push('extended');
      return outcomes;
    };
    fixture.storage.reap = () => (order.push('reaped'), Promise.resolve(0));
    fixture.pool.start();
    await fixture.enqueue('job');
    await fixture.entry(1);
    fixture.clock.stall(60_000);
    fixture.clock.advance(600);
    await until(() => order.includes('reaped'), 'the reaper');
    expect(order[0]).toBe('extended');
  });

  it('prunes by the policy it was given, step by step while a step was full', async () => {
    fixture = await PoolFixture.create({ keepFinished: 5, keepFinishedMs: 6, keepDeadMs: 7 });
    const asked: PrunePolicy[] = [];
    fixture.storage.prune = (policy) => (asked.push(policy), Promise.resolve(asked.length < 3 ? LIMITS.prune : 10));
    fixture.pool.start();
    fixture.clock.advance(3000);
    await until(() => asked.length === 3, 'three steps');
    await turns();
    expect(asked).toEqual(Array(3).fill({ keepFinished: 5, keepFinishedMs: 6, keepDeadMs: 7 }));
  });

  it('does not hold up a shutdown when the storage does not answer', async () => {
    fixture = await PoolFixture.create();
    let asked = false;
    fixture.storage.prune = () => ((asked = true), new Promise(() => undefined));
    fixture.pool.start();
    fixture.clock.advance(3000);
    expect(asked).toBe(true);
    const stopping = fixture.pool.stop();
    await turns();
    fixture.clock.advance(1000);
    await stopping;
  });
});
