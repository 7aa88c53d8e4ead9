import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { JobClient, ServiceFixture, SUITE_STORAGE, type Answer, type JobView, type ServiceProcess } from './harness/index.js';

const ROOT = join(import.meta.dirname, '..');
const FAR_MS = 3_600_000;

/** Jobs of one test are told apart by their ids, so these tests share a service; those that count have their own. */
const shared = new ServiceFixture('file');
const orchd = new ServiceFixture();
let service: ServiceProcess;
let jobs: JobClient;

beforeAll(async () => {
  service = await shared.start({ flags: ['--retry-base-ms', '0', '--queues', 'default,mail'] });
  jobs = new JobClient(service);
});

describe('GET /jobs/:id', () => {
  it('answers 404 for a job that never was', async () => {
    expect(await service.call('GET', '/jobs/nobody')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await service.call('HEAD', '/jobs/nobody')).status).toBe(404);
  });
});

describe('GET /jobs', () => {
  it('pages through all jobs by id, without payload, result and log', async () => {
    const sent = Array.from({ length: 25 }, (_, i) => `page-${String(i).padStart(2, '0')}`);
    await service.post('/jobs/batch', { jobs: sent.map((id) => ({ id, work_ms: 1 })) });
    const seen: string[] = [];
    let path: string | null = '/jobs?limit=10';
    while (path !== null) {
      const page: Answer<{ jobs: JobView[]; next_cursor: string | null }> = await service.call('GET', path);
      expect(page.status).toBe(200);
      expect(page.body.jobs.length).toBeLessThanOrEqual(10);
      for (const listed of page.body.jobs) {
        const { payload: _payload, result: _result, log: _log, ...rest } = await jobs.get(listed.id);
        expect(Object.keys(listed)).toEqual(Object.keys(rest));
        seen.push(listed.id);
      }
      path = page.body.next_cursor && `/jobs?limit=10&cursor=${page.body.next_cursor}`;
    }
    expect(seen.filter((id) => id.startsWith('page-'))).toEqual(sent);
    expect(seen).toEqual([...new Set(seen)].sort());
  });

  it('filters by state, queue and type', async () => {
    await jobs.accepted({ id: 'filter-a', work_ms: 1, delay_ms: FAR_MS });
    await jobs.accepted({ id: 'filter-b', work_ms: 1, queue: 'mail' });
    await jobs.reached('filter-b', 'done');
    const found = async (query: string) => {
      const { body } = await service.call<{ jobs: JobView[] }>('GET', `/jobs?limit=1000&${query}`);
      return body.jobs.map(({ id }) => id).filter((id) => id.startsWith('filter-'));
    };
    expect(await found('state=delayed')).toEqual(['filter-a']);
    expect(await found('state=done&queue=mail&type=simulated')).toEqual(['filter-b']);
    expect(await found('queue=default&state=done')).toEqual([]);
    expect(await found('type=other')).toEqual([]);
  });
});

describe('DELETE /jobs/:id', () => {
  it('cancels a waiting job at once: 200 and the job, then 409', async () => {
    const id = await jobs.accepted({ work_ms: 1, delay_ms: FAR_MS });
    expect(await service.call('DELETE', `/jobs/${id}`)).toMatchObject({ status: 200, body: { id, state: 'cancelled', starts: 0 } });
    expect(await service.call('DELETE', `/jobs/${id}`)).toMatchObject({ status: 409, body: { code: 'already_finished' } });
  });

  it('asks a running job to stop: 202, again 202, and it becomes cancelled', async () => {
    const patient = await orchd.start({ flags: ['--hb-timeout-ms', '60000'] });
    const there = new JobClient(patient);
    const id = await there.accepted({ work_ms: 1, hang_prob: 1 });
    await there.reached(id, 'active');
    const answers = await Promise.all([patient.call('DELETE', `/jobs/${id}`), patient.call('DELETE', `/jobs/${id}`)]);
    for (const answer of answers) expect(answer).toMatchObject({ status: 202, body: { id, state: 'active', cancel_requested: true } });
    await there.reached(id, 'cancelled');
  });

  it('answers 409 for a finished job and 404 for none', async () => {
    const id = await jobs.accepted({ work_ms: 1 });
    await jobs.reached(id, 'done');
    expect((await service.call('DELETE', `/jobs/${id}`)).status).toBe(409);
    expect((await service.call('DELETE', '/jobs/nobody')).status).toBe(404);
  });

  it('does not mind the content type that some clients send without a body', async () => {
    const id = await jobs.accepted({ work_ms: 1, delay_ms: FAR_MS });
    const headers = { 'content-type': 'application/json', 'content-length': '0' };
    expect((await service.call('DELETE', `/jobs/${id}`, { headers })).status).toBe(200);
  });
});

describe('POST /jobs/:id/redrive', () => {
  it('makes a dead job ready again with its counters at 0; its last error stays', async () => {
    const id = await jobs.accepted({ work_ms: 1, fail_prob: 1, max_attempts: 2 });
    const dead = await jobs.reached(id, 'dead');
    expect(dead).toMatchObject({ attempts: 2, starts: 2, error: { code: 'failed', message: 'simulated failure', at: expect.any(Number) } });
    const { status, body } = await service.post<JobView>(`/jobs/${id}/redrive`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, state: 'ready', attempts: 0, starts: 0, error: dead.error });
    expect((await jobs.reached(id, 'dead')).epoch).toBeGreaterThan(dead.epoch);
  });

  it('answers 409 for a job that is not dead and 404 for none', async () => {
    const id = await jobs.accepted({ work_ms: 1, delay_ms: FAR_MS });
    expect(await service.post(`/jobs/${id}/redrive`)).toMatchObject({ status: 409, body: { code: 'not_dead' } });
    expect((await service.post('/jobs/nobody/redrive')).status).toBe(404);
  });
});

describe('GET /stats', () => {
  it('has every figure, and its counts are those of a recount', async () => {
    const counted = await orchd.start({ flags: ['--retry-base-ms', '0'] });
    const there = new JobClient(counted);
    const ids = await Promise.all([
      there.accepted({ work_ms: 1 }),
      there.accepted({ work_ms: 1, fail_prob: 1, max_attempts: 3 }),
      there.accepted({ work_ms: 1, delay_ms: FAR_MS }),
      there.accepted({ work_ms: 1, delay_ms: FAR_MS }),
    ]);
    await counted.call('DELETE', `/jobs/${ids[3]}`);
    await there.reached(ids[0], 'done');
    await there.reached(ids[1], 'dead');
    const stats = await there.stats();
    expect(Object.keys(stats)).toEqual([
      ...['jobs', 'ready', 'delayed', 'active', 'done', 'dead', 'cancelled'],
      ...['submitted', 'retried', 'requeued', 'stale_rejected', 'workers', 'storage', 'uptime_s'],
    ]);
    expect(stats).toMatchObject({ jobs: 4, ready: 0, delayed: 1, active: 0, done: 1, dead: 1, cancelled: 1 });
    expect(stats).toMatchObject({ submitted: 4, retried: 2, requeued: 0, stale_rejected: 0, uptime_s: expect.any(Number) });
    expect(stats.workers).toEqual({ configured: 16, healthy: 16, busy: 0, replaced: 0, zombies: 0 });
    const figures = SUITE_STORAGE === 'wal' ? { durability: 'fsync', segments: expect.any(Number) } : { durability: 'memory' };
    expect(stats.storage).toMatchObject({ kind: SUITE_STORAGE, writable: true, ...figures });
  });
});

describe('what describes the service', () => {
  it('/healthz and /readyz answer 200, readiness with the keys storage and workers', async () => {
    expect((await service.call('GET', '/healthz')).status).toBe(200);
    const { status, body } = await service.call('GET', '/readyz');
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'ok', details: { storage: { status: 'up' }, workers: { status: 'up' } } });
  });

  it('/openapi.json is the document in docs (if not: npm run openapi), and describes every call there is', async () => {
    const { body } = await service.call<{ paths: Record<string, object> }>('GET', '/openapi.json');
    expect(body).toEqual(JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')));
    const calls = Object.entries(body.paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`));
    expect(calls.sort()).toEqual([
      'delete /jobs/{id}',
      'get /healthz',
      'get /jobs',
      'get /jobs/{id}',
      'get /readyz',
      'get /stats',
      'post /jobs',
      'post /jobs/batch',
      'post /jobs/{id}/redrive',
    ]);
  });
});
