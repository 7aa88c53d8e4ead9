import { beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { eventually, ServiceFixture, statsOf, type ServiceProcess } from './harness/index.js';
import { JobClient } from './harness/job-client.js';

const WORKERS = 16;
/** Other tests share the cores; a thread that beats only between its jobs would still be silent for longer. */
const PATIENT = ['--hb-timeout-ms', '1000'];
/** Many minutes of work. */
const ENDLESS = { type: 'cpu', payload: { rounds: 1_000_000_000 } };

/** Most tests share a service, and look at their own jobs only. */
const shared = new ServiceFixture('file');
const orchd = new ServiceFixture();
let service: ServiceProcess;
let jobs: JobClient;

beforeAll(async () => {
  service = await shared.start({ flags: ['--workers', String(WORKERS), ...PATIENT] });
  jobs = new JobClient(service);
});

/** The definition, by another implementation. */
function chainOf(seed: string, rounds: number): string {
  let digest = createHash('sha256').update(seed, 'utf8').digest();
  for (let i = 1; i < rounds; i++) digest = createHash('sha256').update(digest).digest();
  return digest.toString('hex');
}

/** Linux only. */
function threadsOf({ pid }: ServiceProcess): number {
  return readdirSync(`/proc/${pid}/task`).length;
}

describe('A cpu job', () => {
  it('has the last digest of its chain as its result', async () => {
    const id = await jobs.accepted({ type: 'cpu', payload: { rounds: 50_000, seed: 'h\u00e9llo' } });
    expect(await jobs.reached(id, 'done')).toMatchObject({ starts: 1, result: chainOf('h\u00e9llo', 50_000) });
    const unseeded = await jobs.accepted({ type: 'cpu', payload: { rounds: 1 } });
    expect(await jobs.reached(unseeded, 'done')).toMatchObject({ result: chainOf('', 1) });
  });

  it.each<[string, unknown]>([
    ['payload', undefined],
    ['payload', null],
    ['payload', [1]],
    ['payload.rounds', {}],
    ['payload.rounds', { rounds: 0 }],
    ['payload.rounds', { rounds: 1.5 }],
    ['payload.rounds', { rounds: '5' }],
    ['payload.rounds', { rounds: 1_000_000_001 }],
    ['payload.seed', { rounds: 1, seed: 7 }],
    ['payload.seed', { rounds: 1, seed: 'x'.repeat(1025) }],
    ['payload.other', { rounds: 1, other: 1 }],
  ])('is refused by the field %s with the payload %j', async (field, payload) => {
    const { status, body } = await service.post<{ fields: object }>('/jobs', { type: 'cpu', payload });
    expect({ status, fields: Object.keys(body.fields) }).toEqual({ status: 400, fields: [field] });
  });

  it('is never taken for hung, though its workers outnumber the cores, and keeps nobody from being served', async () => {
    const before = await statsOf(service);
    const job = { type: 'cpu', payload: { rounds: 500_000 } };
    const { body } = await service.post<{ ids: string[] }>('/jobs/batch', { jobs: Array.from({ length: 2 * WORKERS }, () => job) });
    await eventually('the jobs to end', async () => {
      expect((await service.call('GET', '/healthz')).status).toBe(200);
      return (await statsOf(service)).done - before.done === body.ids.length;
    });
    const after = await statsOf(service);
    expect([after.requeued, after.workers.replaced, after.workers.zombies]).toEqual([before.requeued, before.workers.replaced, 0]);
  });

  it('stops within its loop when it is cancelled, and costs no worker', async () => {
    const { workers } = await statsOf(service);
    const id = await jobs.accepted(ENDLESS);
    await jobs.reached(id, 'active');
    await eventually('its progress', async () => ((await jobs.get(id)).progress?.percent ?? 0) > 0);
    expect((await service.call('DELETE', `/jobs/${id}`)).status).toBe(202);
    await jobs.reached(id, 'cancelled');
    expect((await statsOf(service)).workers.replaced).toBe(workers.replaced);
  });

  it('ends at its time limit', async () => {
    const id = await jobs.accepted({ ...ENDLESS, timeout_ms: 200, max_attempts: 1 });
    expect(await jobs.reached(id, 'dead')).toMatchObject({ attempts: 1, error: { code: 'timeout' } });
    await eventually('its thread to be gone', async () => (await statsOf(service)).workers.zombies === 0);
  });

  it('tells how far it is, and that survives a kill -9', async () => {
    const dataDir = orchd.folder();
    const first = await orchd.start({ dataDir });
    const id = await new JobClient(first).accepted(ENDLESS);
    const seen = await eventually('its progress', async () => (await new JobClient(first).get(id)).progress);
    await first.kill();
    const after = new JobClient(await orchd.start({ dataDir, flags: ['--role', 'api'] }));
    const job = await after.get(id);
    expect(job).toMatchObject({ state: 'ready', requeues: 1 });
    expect(job.progress!.percent).toBeGreaterThanOrEqual(seen.percent);
    expect(job.progress!.note).toMatch(/^[0-9]+ of 1000000000 rounds$/);
  });

  it('is given back when the service stops in the middle of it, and the service stops in time', async () => {
    const dataDir = orchd.folder();
    const first = await orchd.start({ dataDir, flags: ['--shutdown-grace-ms', '100'] });
    const ids = await Promise.all([1, 2, 3, 4].map(() => new JobClient(first).accepted(ENDLESS)));
    await new JobClient(first).reached(ids[0]!, 'active');
    expect(await first.stop()).toMatchObject({ code: 0 });
    const after = new JobClient(await orchd.start({ dataDir, flags: ['--role', 'api'] }));
    for (const id of ids) expect(await after.get(id)).toMatchObject({ state: 'ready', attempts: 0, requeues: 0 });
  });

  it('that is cut off again and again leaves the number of threads as it was', async () => {
    await jobs.reached(await jobs.accepted({ type: 'cpu', payload: { rounds: 1 } }), 'done');
    const before = threadsOf(service);
    const ids = await Promise.all(Array.from({ length: 20 }, () => jobs.accepted({ ...ENDLESS, timeout_ms: 30, max_attempts: 1 })));
    for (const id of ids) await jobs.reached(id, 'dead');
    await eventually('the threads to be gone', async () => threadsOf(service) <= before && (await statsOf(service)).workers.zombies === 0);
  });
});

describe('A process that only works', () => {
  it('serves its probes and figures, and takes no jobs', async () => {
    const worker = await orchd.start({ storage: 'memory', flags: ['--role', 'worker'] });
    for (const path of ['/healthz', '/readyz', '/stats']) expect((await worker.call('GET', path)).status).toBe(200);
    expect(await statsOf(worker)).toMatchObject({ workers: { configured: 16, healthy: 16 } });
    for (const path of ['/jobs', '/jobs/batch']) {
      expect(await worker.post(path, { work_ms: 1 })).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
  });
});
