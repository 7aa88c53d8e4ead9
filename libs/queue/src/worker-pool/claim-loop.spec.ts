import { systemClock, type ClaimRequest, type JobRecord, type StorageCapabilities } from '@orchd/storage';
import { MemoryStorageAdapter } from '@orchd/storage/memory';
import { ClaimLoop } from './claim-loop.js';
import { turns } from './pool.fixture.js';
import { poolSettings } from './pool-options.js';

interface Poll {
  readonly request: ClaimRequest;
  answer(jobs: readonly JobRecord[]): void;
}

/** Answers a claim when the test says so. */
class SlowStorage extends MemoryStorageAdapter {
  readonly polls: Poll[] = [];
  override capabilities: StorageCapabilities = { kind: 'memory', durability: 'memory', shared: false, persistent: false };

  override claim(request: ClaimRequest): Promise<JobRecord[]> {
    return new Promise((resolve) => {
      this.polls.push({ request, answer: (jobs) => resolve(jobs as JobRecord[]) });
    });
  }
}

const job = { id: 'j', epoch: 1 } as JobRecord;

describe('ClaimLoop', () => {
  let storage: SlowStorage;
  let free: number;
  let size: number;
  let loop: ClaimLoop;
  let given: JobRecord[];

  beforeEach(() => {
    storage = new SlowStorage();
    free = size = 8;
    given = [];
    const target = {
      queue: 'default',
      get size() {
        return size;
      },
      get free() {
        return free;
      },
      take: (jobs: readonly JobRecord[]) => void (free -= jobs.length),
      giveBack: (jobs: readonly JobRecord[]) => void given.push(...jobs),
    };
    loop = new ClaimLoop(storage, poolSettings({ owner: 'me', leaseMs: 1234, clock: systemClock }), target, () => undefined);
    loop.start();
  });

  afterEach(() => loop.stop());

  function freed(n: number): Promise<void> {
    free += n;
    loop.wake();
    return turns();
  }

  const asked = (): number => storage.polls.reduce((sum, { request }) => sum + request.limit, 0);

  it('asks for all free workers, in its own name', async () => {
    await turns();
    expect(storage.polls.map(({ request }) => request)).toMatchObject([{ queue: 'default', limit: 8, owner: 'me', leaseMs: 1234 }]);
  });

  it('asks a shared storage for the halves of many workers one by one while more jobs wait than it asks for', async () => {
    storage.capabilities = { ...storage.capabilities, shared: true };
    free = size = 33;
    await turns();
    const [poll] = storage.polls.splice(0);
    expect(poll!.request.limit).toBe(33);
    poll!.answer(Array.from({ length: 33 }, () => job));
    await turns();
    await freed(33);
    expect(storage.polls.map(({ request }) => request.limit)).toEqual([17, 16]);
    for (const { answer } of storage.polls.splice(0)) answer([job]);
    await turns();
    expect(storage.polls.map(({ request }) => request.limit)).toEqual([31]);
  });

  it('claims for a worker that becomes free while a claim is unanswered beside it', async () => {
    free = 1;
    await turns();
    await freed(2);
    expect(storage.polls.map(({ request }) => request.limit)).toEqual([1, 2]);
  });

  it('never asks for more than there are free workers, over all open claims', async () => {
    free = 0;
    for (let i = 0; i < 40; i++) {
      await freed(1);
      expect(asked()).toBeLessThanOrEqual(free);
      if (i % 3 === 2) {
        const poll = storage.polls.shift()!;
        poll.answer(Array.from({ length: poll.request.limit }, () => job));
        await turns();
        expect(asked()).toBeLessThanOrEqual(free);
      }
    }
  });

  it('does not leave a poll per worker at a queue that is empty', async () => {
    free = 1;
    for (let i = 0; i < 20; i++) await freed(1);
    expect(storage.polls.length).toBe(8);
    for (const poll of storage.polls.splice(0)) poll.answer([job]);
    await turns();
    expect(asked()).toBe(free);
  });

  it('ends its polls when it is stopped, and gives back what still comes', async () => {
    await turns();
    const [poll] = storage.polls;
    loop.stop();
    expect(poll!.request.signal?.aborted).toBe(true);
    poll!.answer([job]);
    await turns();
    expect(given).toEqual([job]);
    await freed(1);
    expect(storage.polls).toHaveLength(1);
  });
});
