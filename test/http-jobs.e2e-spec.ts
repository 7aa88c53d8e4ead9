import { beforeAll, describe, expect, it } from '@jest/globals';
import { JobClient, ServiceFixture, type JobView, type ServiceProcess } from './harness/index.js';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const FAR_MS = 3_600_000;

/** Jobs of one test are told apart by their ids, so these tests share a service; those that restart one have their own. */
const shared = new ServiceFixture('file');
const orchd = new ServiceFixture();
let service: ServiceProcess;
let jobs: JobClient;
/** A process without workers, which does not know the types it takes. */
let api: ServiceProcess;

beforeAll(async () => {
  [service, api] = await Promise.all([shared.start(), shared.start({ flags: ['--role', 'api'] })]);
  jobs = new JobClient(service);
});

describe('POST /jobs', () => {
  it('takes the short form as a job of type simulated, and it is done', async () => {
    const { status, headers, body } = await service.post<JobView>('/jobs', { work_ms: 5 });
    expect(status).toBe(201);
    expect(Object.keys(body)).toEqual(['id', 'state', 'queue', 'type']);
    expect(body).toMatchObject({ id: expect.stringMatching(UUID_V7), queue: 'default', type: 'simulated' });
    expect(headers.location).toBe(`/jobs/${body.id}`);
    expect(await jobs.reached(body.id, 'done')).toMatchObject({ payload: { work_ms: 5, fail_prob: 0, hang_prob: 0 }, starts: 1 });
  });

  it('takes the general form, and shows every field of the job in order, null where unset', async () => {
    const request = {
      id: 'order:17.a',
      type: 'simulated',
      payload: { work_ms: 1 },
      priority: 9,
      delay_ms: FAR_MS,
      max_attempts: 7,
      max_requeues: 3,
      timeout_ms: 1000,
      backoff: { base_ms: 5 },
      dedupe_key: 'ключ 1',
    };
    const before = Date.now();
    const { status, body } = await service.post('/jobs', request);
    expect(status).toBe(201);
    expect(body).toEqual({ id: 'order:17.a', state: 'delayed', queue: 'default', type: 'simulated' });
    const shown = await jobs.get('order:17.a');
    expect(Object.entries(shown)).toEqual([
      ['id', 'order:17.a'],
      ['queue', 'default'],
      ['type', 'simulated'],
      ['state', 'delayed'],
      ['priority', 9],
      ['payload', { work_ms: 1 }],
      ['dedupe_key', 'ключ 1'],
      ['attempts', 0],
      ['max_attempts', 7],
      ['requeues', 0],
      ['max_requeues', 3],
      ['releases', 0],
      ['starts', 0],
      ['epoch', 0],
      ['cancel_requested', false],
      ['created_at', expect.any(Number)],
      ['run_at', expect.any(Number)],
      ['started_at', null],
      ['finished_at', null],
      ['progress', null],
      ['log', []],
      ['result', null],
      ['error', null],
    ]);
    expect(shown.created_at).toBeGreaterThanOrEqual(before);
    expect(shown.run_at).toBe(shown.created_at + FAR_MS);
  });

  it('runs a job with a past run_at now, and keeps one with a future run_at', async () => {
    await jobs.reached(await jobs.accepted({ work_ms: 1, run_at: 0 }), 'done');
    const runAt = Date.now() + FAR_MS;
    expect(await jobs.get(await jobs.accepted({ work_ms: 1, run_at: runAt }))).toMatchObject({ state: 'delayed', run_at: runAt });
  });

  it('gives a payload back as it was, big numbers, empty arrays and odd keys too', async () => {
    const payload = { n: 2 ** 53 - 1, f: 1e300, e: [], o: {}, s: '\u0000\u2028\ud83d\ude00', toString: 'x', constructor: 1, null: null };
    const { body } = await api.post<JobView>('/jobs', { type: 'someone.elses', payload });
    expect((await new JobClient(api).get(body.id)).payload).toEqual(payload);
  });

  it('to a process without workers may name any type and queue', async () => {
    const { body } = await api.post<JobView>('/jobs', { type: 'constructor', queue: 'constructor' });
    const shown = await new JobClient(api).get(body.id);
    expect(shown).toMatchObject({ state: 'ready', type: 'constructor', queue: 'constructor', payload: null });
  });
});

describe('a repeated request', () => {
  it.each([
    ['the header Idempotency-Key', { work_ms: 1 }, { 'idempotency-key': 'k' }],
    ['a dedupe_key', { work_ms: 1, dedupe_key: 'k' }, {}],
    ['an id', { work_ms: 1, id: 'k' }, {}],
  ])('with %s is the same job: 200, also when it is done, also after kill -9', async (_what, request, headers) => {
    const dataDir = orchd.folder();
    const first = await orchd.start({ dataDir });
    const { status, body, headers: answered } = await first.post<JobView>('/jobs', request, headers);
    expect(status).toBe(201);
    await new JobClient(first).reached(body.id, 'done');
    const same = { status: 200, body: { id: body.id, state: 'done' }, headers: { location: answered.location } };
    expect(await first.post('/jobs', request, headers)).toMatchObject(same);
    await first.kill();

    const second = await orchd.start({ dataDir });
    expect(await second.post('/jobs', request, headers)).toMatchObject(same);
    const other = await second.post('/jobs', { ...request, work_ms: 2 }, headers);
    expect(other).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  it('is the same whichever of header and field names the key, and in whatever order its fields are', async () => {
    const { body } = await service.post<JobView>('/jobs', { work_ms: 1, priority: 3 }, { 'idempotency-key': 'either' });
    const again = await service.post<JobView>('/jobs', { dedupe_key: 'either', priority: 3, work_ms: 1 });
    expect(again).toMatchObject({ status: 200, body: { id: body.id } });
  });

  it('is another one when a default is written out', async () => {
    await jobs.accepted({ id: 'plain', work_ms: 1 });
    expect((await service.post('/jobs', { id: 'plain', work_ms: 1, priority: 5 })).status).toBe(409);
  });

  it('sent fifty times at once makes one job', async () => {
    const { jobs: stored } = await jobs.stats();
    const equal = await Promise.all(Array.from({ length: 50 }, () => service.post('/jobs', { id: 'one', work_ms: 1 })));
    expect(equal.map(({ status }) => status).sort()).toEqual([...Array<number>(49).fill(200), 201]);
    const unequal = await Promise.all(Array.from({ length: 50 }, (_, i) => service.post('/jobs', { id: 'two', work_ms: i })));
    expect(unequal.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(49).fill(409)]);
    expect((await jobs.stats()).jobs).toBe(stored + 2);
  });
});

describe('POST /jobs/batch', () => {
  it('takes all jobs and answers their ids in order; equal twins are one job', async () => {
    const { jobs: stored } = await jobs.stats();
    const twin = { id: 'c', work_ms: 1 };
    const { status, body } = await service.post<{ ids: string[] }>('/jobs/batch', { jobs: [twin, { type: 'simulated' }, twin] });
    expect(status).toBe(201);
    expect(body).toEqual({ ids: ['c', expect.stringMatching(UUID_V7), 'c'] });
    for (const id of body.ids) await jobs.reached(id, 'done');
    expect((await jobs.stats()).jobs).toBe(stored + 2);
  });

  it('takes 10,000 jobs', async () => {
    const batch = Array.from({ length: 10_000 }, (_, n) => ({ type: 't', payload: { n } }));
    const { status, body } = await api.post<{ ids: string[] }>('/jobs/batch', { jobs: batch });
    expect(status).toBe(201);
    expect(new Set(body.ids).size).toBe(10_000);
    expect(await new JobClient(api).get(body.ids[9_999]!)).toMatchObject({ payload: { n: 9_999 } });
  });

  it('takes none when one of them conflicts with a job there is', async () => {
    await jobs.accepted({ id: 'there', work_ms: 1 });
    const batch = [
      { id: 'new', work_ms: 1 },
      { id: 'there', work_ms: 2 },
    ];
    expect((await service.post('/jobs/batch', { jobs: batch })).status).toBe(409);
    expect((await service.call('GET', '/jobs/new')).status).toBe(404);
  });
});
