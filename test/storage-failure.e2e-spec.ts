import { expect, it } from '@jest/globals';
import { C_COMPILER, DiskShim, JobClient, ServiceFixture, describeWith, eventually, type ServiceProcess } from './harness/index.js';

const FAR_MS = 3_600_000;
const orchd = new ServiceFixture();

describeWith([C_COMPILER], 'a disk that fails one sync and then says all is well', () => {
  it('ends the service with exit code 74; what was promised is there, what was refused is not', async () => {
    const dataDir = orchd.folder();
    const shim = new DiskShim(orchd.folder());
    const service = await orchd.start({
      dataDir,
      env: shim.env(dataDir),
      flags: ['--hb-timeout-ms', '600000', '--shutdown-grace-ms', '600000'],
    });
    const jobs = new JobClient(service);
    const before = await jobs.accepted({ work_ms: 1, delay_ms: FAR_MS });
    await jobs.reached(await jobs.accepted({ hang_prob: 1 }), 'active');

    shim.failOneSync();
    // The sync that fails is this one's, or that of a mark which the log wrote by itself just before.
    const unknown = await service.post<{ code: string }>('/jobs', { id: 'unknown', work_ms: 1, delay_ms: FAR_MS });
    expect(unknown).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(['outcome_unknown', 'storage_unavailable']).toContain(unknown.body.code);
    const refused = await afterwards(service);
    expect(await service.exited).toEqual({ code: 74, signal: null });
    expect(await service.logged(({ level }) => level === 'fatal')).toMatchObject({ msg: 'the storage failed' });

    const after = await orchd.start({ dataDir });
    expect((await after.call('GET', `/jobs/${before}`)).status).toBe(200);
    for (const id of refused) expect((await after.call('GET', `/jobs/${id}`)).status).toBe(404);
  });
});

/** Tries to get jobs in until the service is gone; resolves with the ids that it answered, none of them 201. */
async function afterwards(service: ServiceProcess): Promise<string[]> {
  const refused: string[] = [];
  for (let n = 0; ; n++) {
    const id = `late-${n}`;
    const answer = await service.post<{ code: string }>('/jobs', { id, work_ms: 1 }).catch(() => null);
    if (answer === null) return refused;
    expect(answer.status).toBe(503);
    expect(['draining', 'storage_unavailable', 'not_open']).toContain(answer.body.code);
    refused.push(id);
  }
}

describeWith([C_COMPILER], 'a disk that takes a second for every sync', () => {
  it('makes answers slow, and neither probes nor figures, and no worker is taken for hung', async () => {
    const dataDir = orchd.folder();
    const shim = new DiskShim(orchd.folder());
    const service = await orchd.start({ dataDir, env: shim.env(dataDir) });
    const jobs = new JobClient(service);
    const running = await jobs.accepted({ work_ms: 3000 });
    await jobs.reached(running, 'active');

    shim.slow({ syncMs: 1000 });
    let answered = false;
    const slow = service.post('/jobs', { work_ms: 1 }).then((answer) => ((answered = true), answer));
    await eventually('the slow sync is under way, and probes go on', async () => {
      const probes = await Promise.all([service.call('GET', '/healthz'), service.call('GET', '/readyz'), service.call('GET', '/stats')]);
      expect(probes.map(({ status }) => status)).toEqual([200, 200, 200]);
      return answered;
    });
    expect((await slow).status).toBe(201);
    await eventually('all jobs are done', async () => (await jobs.stats()).done === 2);
    expect(await jobs.stats()).toMatchObject({ requeued: 0, workers: { replaced: 0 } });
  });
});
