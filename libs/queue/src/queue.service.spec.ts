import type { JobRecord, NewJob } from '@orchd/storage';
import { MemoryStorageAdapter } from '@orchd/storage/memory';
import { HandlerRegistry } from './handler/handler.registry.js';
import { QueueService } from './queue.service.js';
import { PoolFixture } from './worker-pool/pool.fixture.js';

describe('QueueService', () => {
  let storage: MemoryStorageAdapter;
  let registry: HandlerRegistry;
  let queue: QueueService;

  beforeEach(async () => {
    storage = new MemoryStorageAdapter();
    await storage.open();
    registry = new HandlerRegistry();
    queue = new QueueService(storage, registry);
  });

  afterEach(() => storage.close());

  const record = async (id: string): Promise<JobRecord> => (await storage.get(id))!;

  it('answers with id, state, queue and type', async () => {
    const { id, ...rest } = await queue.enqueue({ type: 'mail' });
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(rest).toEqual({ state: 'ready', queue: 'default', type: 'mail', created: true });
    expect(await queue.enqueue({ type: 'mail', queue: 'slow', delayMs: 1000 })).toMatchObject({ state: 'delayed', queue: 'slow' });
  });

  it.each([null, true, 0, '', 'text', [1, { a: [] }], { deep: { er: null } }])('gives the payload %j back as it was', async (payload) => {
    const { id } = await queue.enqueue({ type: 'mail', payload });
    expect((await queue.get(id))!.payload).toEqual(payload);
  });

  it('takes no payload for null', async () => {
    const { id } = await queue.enqueue({ type: 'mail' });
    expect((await queue.get(id))!.payload).toBeNull();
  });

  it('keeps payload members with names of Object.prototype, and is not changed by them (E03)', async () => {
    const payload = JSON.parse('{"__proto__":{"x":1},"constructor":2}') as object;
    const { id } = await queue.enqueue({ type: 'constructor', payload });
    expect(JSON.stringify((await queue.get<object>(id))!.payload)).toBe('{"__proto__":{"x":1},"constructor":2}');
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  const circular: { self?: unknown } = {};
  circular.self = circular;
  it.each([
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a BigInt', { n: 1n }],
    ['a circle', circular],
  ])('refuses %s as payload, by the field', async (_title, payload) => {
    await expect(queue.enqueue({ type: 'mail', payload })).rejects.toMatchObject({ code: 'invalid_argument', field: 'payload' });
    await expect(queue.enqueueMany([{ type: 'mail' }, { type: 'mail', payload }])).rejects.toMatchObject({ field: 'jobs[1].payload' });
    expect((await storage.counts()).ready).toBe(0);
  });

  it.each<[string, unknown]>([
    ['id', '__proto__'],
    ['type', ''],
    ['queue', 'a b'],
    ['priority', 10],
    ['delayMs', -1],
    ['delayMs', 1.5],
    ['maxAttempts', 0],
    ['maxAttempts', '3'],
    ['maxRequeues', 1001],
    ['timeoutMs', NaN],
    ['dedupeKey', ''],
    ['backoff.capMs', { capMs: -1 }],
  ])('refuses a bad %s, by the field', async (field, value) => {
    const request = { type: 'mail', [field.split('.')[0]!]: value };
    await expect(queue.enqueue(request)).rejects.toMatchObject({ code: 'invalid_argument', field });
  });

  it('fills in what was left out: 5 attempts, 10 requeues, 10 ms to 60 s', async () => {
    const { id } = await queue.enqueue({ type: 'mail' });
    expect(await record(id)).toMatchObject({ maxAttempts: 5, maxRequeues: 10, backoff: { baseMs: 10, capMs: 60_000 }, priority: 5 });
  });

  it('lets the request beat the handler, and the handler the module', async () => {
    queue = new QueueService(storage, registry, { maxAttempts: 7, maxRequeues: 8, retryBaseMs: 9, retryCapMs: 100 });
    registry.register('mail', () => null, { queue: 'mails', maxAttempts: 2, backoff: { baseMs: 1 } });
    const plain = await queue.enqueue({ type: 'other' });
    expect(await record(plain.id)).toMatchObject({ queue: 'default', maxAttempts: 7, maxRequeues: 8, backoff: { baseMs: 9, capMs: 100 } });
    const mail = await queue.enqueue({ type: 'mail' });
    expect(await record(mail.id)).toMatchObject({ queue: 'mails', maxAttempts: 2, maxRequeues: 8, backoff: { baseMs: 1, capMs: 100 } });
    const own = await queue.enqueue({ type: 'mail', queue: 'default', maxAttempts: 3, backoff: { capMs: 50 } });
    expect(await record(own.id)).toMatchObject({ queue: 'default', maxAttempts: 3, backoff: { baseMs: 1, capMs: 50 } });
  });

  it.each([{ maxAttempts: 0 }, { maxRequeues: -1 }, { retryBaseMs: 0.5 }, { retryCapMs: NaN }])(
    'refuses the options %j by name',
    (options) => {
      const [field] = Object.keys(options);
      expect(() => new QueueService(storage, registry, options)).toThrow(expect.objectContaining({ code: 'invalid_argument', field }));
    },
  );

  describe('repeated requests', () => {
    it('are one job when id or key and the rest are equal, whatever the order of their members', async () => {
      const first = await queue.enqueue({ type: 'mail', payload: { a: 1, b: 2 }, dedupeKey: 'k' });
      const second = await queue.enqueue({ dedupeKey: 'k', payload: { b: 2, a: 1 }, type: 'mail' });
      expect(second).toEqual({ ...first, created: false });
      expect((await queue.stats()).submitted).toBe(1);
    });

    it('are a conflict when anything differs, a default written out included', async () => {
      await queue.enqueue({ type: 'mail', id: 'one' });
      await expect(queue.enqueue({ type: 'mail', id: 'one', priority: 5 })).rejects.toMatchObject({ code: 'conflict' });
    });

    it('are compared as their sender wrote them, where that is given', async () => {
      const sentAs = { work_ms: 20 };
      await queue.enqueue({ type: 'simulated', payload: { work_ms: 20 }, id: 'one' }, { sentAs });
      expect(await queue.enqueue({ type: 'simulated', payload: { work_ms: 20, fail_prob: 0 }, id: 'one' }, { sentAs })).toMatchObject({
        created: false,
      });
      await queue.enqueueMany([{ type: 'a', id: 'two' }], { sentAs: [sentAs] });
      expect(await queue.enqueueMany([{ type: 'a', id: 'two', priority: 1 }], { sentAs: [sentAs] })).toMatchObject([{ created: false }]);
    });

    it('cost no fingerprint without id and key', async () => {
      const seen: NewJob[] = [];
      const enqueue = storage.enqueue.bind(storage);
      storage.enqueue = (jobs) => (seen.push(...jobs), enqueue(jobs));
      await queue.enqueue({ type: 'mail' });
      expect(seen[0]!.fingerprint).toBeUndefined();
    });
  });

  it('takes a batch whole or not at all, in the order of the requests', async () => {
    await expect(queue.enqueueMany([{ type: 'a' }, { type: '' }])).rejects.toMatchObject({ code: 'invalid_argument' });
    expect((await queue.stats()).counts.ready).toBe(0);
    const outcomes = await queue.enqueueMany([{ type: 'a' }, { type: 'b' }, { type: 'a' }]);
    expect(outcomes.map(({ type }) => type)).toEqual(['a', 'b', 'a']);
    expect(await queue.stats()).toMatchObject({ submitted: 3, counts: { ready: 3 } });
  });

  it('reads, lists, cancels and redrives by id', async () => {
    expect(await queue.get('nobody')).toBeNull();
    await expect(queue.cancel('nobody')).rejects.toMatchObject({ code: 'not_found' });
    const { id } = await queue.enqueue({ type: 'a', payload: [1] });
    expect((await queue.list({ state: 'ready' })).jobs).toMatchObject([{ id, payload: [1] }]);
    await expect(queue.redrive(id)).rejects.toMatchObject({ code: 'not_dead' });
    expect(await queue.cancel(id)).toMatchObject({ id, state: 'cancelled', payload: [1] });
    await expect(queue.cancel(id)).rejects.toMatchObject({ code: 'already_finished' });
  });

  it('shows no workers in a process without any, and takes every queue and type', async () => {
    await queue.enqueue({ type: 'whatever', queue: 'anywhere' });
    expect(await queue.stats()).toEqual({
      counts: { delayed: 0, ready: 1, active: 0, done: 0, dead: 0, cancelled: 0 },
      submitted: 1,
      retried: 0,
      requeued: 0,
      staleRejected: 0,
      workers: { configured: 0, healthy: 0, busy: 0, replaced: 0, zombies: 0 },
    });
  });

  it('takes no job after the shutdown has begun', async () => {
    queue.onModuleDestroy();
    expect(queue.draining).toBe(true);
    await expect(queue.enqueue({ type: 'a' })).rejects.toMatchObject({ code: 'draining' });
  });

  describe('in a process with workers', () => {
    let fixture: PoolFixture;

    beforeEach(async () => {
      fixture = await PoolFixture.create({ queues: { default: 1, mail: 1 } });
      fixture.handle('job');
    });
    afterEach(() => fixture.close());

    it('refuses queues that none of them serves', async () => {
      await expect(fixture.queue.enqueue({ type: 'job', queue: 'other' })).rejects.toMatchObject({
        code: 'invalid_argument',
        field: 'queue',
      });
      await fixture.queue.enqueue({ type: 'job', queue: 'mail' });
    });

    it('refuses types without handler (E08)', async () => {
      await expect(fixture.queue.enqueue({ type: 'other' })).rejects.toMatchObject({ code: 'invalid_argument', field: 'type' });
      await expect(fixture.queue.enqueue({ type: 'toString' })).rejects.toMatchObject({ code: 'invalid_argument', field: 'type' });
    });
  });
});
