import { hasCode, type NewJob } from '../../contract/index.js';
import { settled } from './log/log.fixture.js';
import { HEADER_BYTES } from './log/segment-header.js';
import type { WalStorageAdapter } from './wal.adapter.js';
import { WalFixture } from './wal.fixture.js';

const SEGMENT_BYTES = 64 * 1024;
const FILE_BYTES = SEGMENT_BYTES + HEADER_BYTES;
const FAR_MS = 1e11;
const BATCH = 100;
const ANCIENT: NewJob = { id: 'ancient', queue: 'default', type: 'noop', payload: '{}', delayMs: FAR_MS };

async function open(capacityBytes = Infinity, segmentBytes = SEGMENT_BYTES): Promise<WalFixture> {
  const fixture = new WalFixture({ segmentBytes });
  fixture.disk.capacityBytes = capacityBytes;
  await fixture.adapter.open();
  return fixture;
}

function jobs(count: number, job: Partial<NewJob> = {}): NewJob[] {
  return Array.from({ length: count }, () => ({ queue: 'default', type: 'noop', payload: 'x'.repeat(200), ...job }));
}

/** Jobs come, are done, and are forgotten but for the last hundred. */
async function churn(adapter: WalStorageAdapter, rounds: number, look: () => void = () => undefined): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await adapter.enqueue(jobs(BATCH));
    const claimed = await adapter.claim({ queue: 'default', limit: BATCH, owner: 'test', leaseMs: 1000 });
    await Promise.all(claimed.map((job) => adapter.ack(job)));
    await adapter.prune({ keepFinished: BATCH, keepFinishedMs: 0, keepDeadMs: 0 });
    await settled(40);
    look();
  }
}

async function forgetAll(adapter: WalStorageAdapter): Promise<void> {
  for (;;) {
    const { jobs: some } = await adapter.list({ state: 'delayed', limit: BATCH });
    if (some.length === 0) return;
    await Promise.all(some.map(({ id }) => adapter.cancel(id)));
    await adapter.prune({ keepFinished: 1, keepFinishedMs: 0, keepDeadMs: 0 });
    await settled(40);
  }
}

/** What the folder takes, spares and all, less 2.5 x what lives; in segments. Design and README promise 3. */
function segmentsBeside({ disk, adapter }: WalFixture): number {
  const { liveBytes = 0 } = adapter.health().figures;
  return (disk.usedBytes - 2.5 * liveBytes) / FILE_BYTES;
}

function expectBounded(fixture: WalFixture): void {
  expect(segmentsBeside(fixture)).toBeLessThanOrEqual(3);
}

/** The most of it in any turn of the event loop until the returned function is called. */
function watchPeak(fixture: WalFixture): () => number {
  let peak = 0;
  let next: NodeJS.Immediate;
  const look = () => {
    peak = Math.max(peak, segmentsBeside(fixture));
    next = setImmediate(look);
  };
  look();
  return () => {
    clearImmediate(next);
    return peak;
  };
}

/** Enqueues until the disk is full. */
async function fill(adapter: WalStorageAdapter): Promise<void> {
  for (;;) {
    try {
      await adapter.enqueue(jobs(BATCH / 10, { delayMs: FAR_MS }));
    } catch (error) {
      if (hasCode(error, 'storage_full')) return;
      throw error;
    }
  }
}

describe('the cleaner', () => {
  it.each([0, 2000])('bounds the disk in a churn beside one ancient delayed job and %i others', async (standing) => {
    const fixture = await open();
    const { adapter } = fixture;
    await adapter.enqueue([ANCIENT]);
    if (standing > 0) await adapter.enqueue(jobs(standing, { delayMs: FAR_MS }));
    await churn(adapter, 60, () => expectBounded(fixture));
    expect(await adapter.get('ancient')).toMatchObject({ state: 'delayed' });
    expect((await adapter.counts()).delayed).toBe(standing + 1);

    const reopened = await fixture.crash();
    expect(await reopened.get('ancient')).toMatchObject({ state: 'delayed' });
    expect((await reopened.counts()).delayed).toBe(standing + 1);
    await fixture.dispose();
  });

  it('bounds the disk in a storm of retries, also while a segment begins and ends', async () => {
    const fixture = await open();
    const { adapter } = fixture;
    await adapter.enqueue([ANCIENT, ...jobs(BATCH / 4, { maxAttempts: 1000 })]);
    const peak = watchPeak(fixture);
    for (let attempt = 0; attempt < 100; attempt++) {
      const claimed = await adapter.claim({ queue: 'default', limit: BATCH, owner: 'test', leaseMs: 1000 });
      expect(claimed).toHaveLength(BATCH / 4);
      const failure = { code: 'failed', message: 'e'.repeat(200) } as const;
      await Promise.all(claimed.map((job) => adapter.nack(job, failure, { retryInMs: 0 })));
      await settled(40);
    }
    expect(peak()).toBeLessThanOrEqual(3);
    await fixture.dispose();
  });

  it('gives the disk back when what lived is gone, without traffic', async () => {
    const fixture = await open();
    const { adapter, disk } = fixture;
    await adapter.enqueue([ANCIENT]);
    for (let i = 0; i < 40; i++) await adapter.enqueue(jobs(BATCH, { delayMs: FAR_MS }));
    expect(disk.usedBytes).toBeGreaterThan(12 * FILE_BYTES);
    await forgetAll(adapter);
    await settled(400);
    expectBounded(fixture);
    await fixture.dispose();
  });

  it('goes by the segments of a small disk, not by those that were asked for', async () => {
    const fixture = await open(20 * FILE_BYTES, 16 * 2 ** 20);
    const { adapter } = fixture;
    await adapter.enqueue([ANCIENT]);
    await churn(adapter, 60);
    expect(adapter.health()).toMatchObject({ state: 'open' });
    await fixture.dispose();
  });

  it('does not hold up the end when there is no room for what it copies', async () => {
    const { adapter, disk } = await open(Infinity, 8 * 1024);
    for (let batch = 0; batch < 6; batch++) await adapter.enqueue(jobs(BATCH, { delayMs: FAR_MS }));
    const { jobs: some } = await adapter.list({ limit: 500 });
    disk.capacityBytes = 0; // what a removed segment leaves is somebody else's at once
    for (const [i, { id }] of some.entries()) if (i % 3 > 0) adapter.cancel(id).catch(() => undefined);
    await settled(100);
    adapter.prune({ keepFinished: 1, keepFinishedMs: 0, keepDeadMs: 0 }).catch(() => undefined);
    await settled(400);
    expect(adapter.health()).toMatchObject({ state: 'full' });
    await adapter.close();
  });

  it('frees a full disk when jobs are given up, and the service goes on', async () => {
    const fixture = await open(20 * FILE_BYTES);
    const { adapter } = fixture;
    await fill(adapter);
    expect(adapter.health().state).toBe('full');
    await forgetAll(adapter);
    await settled(400);
    await fixture.advance(1000);
    await settled(400);
    expect(adapter.health().state).toBe('open');
    await adapter.enqueue([ANCIENT]);
    await fixture.dispose();
  });
});
