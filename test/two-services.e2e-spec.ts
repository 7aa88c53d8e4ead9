import { expect, it } from '@jest/globals';
import {
  describeWith,
  eventually,
  recount,
  ServiceFixture,
  statsOf,
  unexplained,
  type JobView,
  type ServiceProcess,
} from './harness/index.js';
import { REDIS, RedisFixture } from './harness/redis.js';

const BATCH = 500;

describeWith([REDIS], 'two services on one Redis', () => {
  const redis = new RedisFixture();
  const orchd = new ServiceFixture();

  async function startTwo(flags: readonly string[] = []): Promise<readonly [ServiceProcess, ServiceProcess]> {
    const dataDir = orchd.folder();
    const all = [...redis.flagsFor(dataDir), '--lease-ms', '2000', '--workers', '32', ...flags];
    return Promise.all([orchd.start({ storage: 'redis', dataDir, flags: all }), orchd.start({ storage: 'redis', dataDir, flags: all })]);
  }

  /** The ids of `batches` batches, sent to the services in turn. */
  async function submit(services: readonly ServiceProcess[], batches: number, job: object): Promise<string[]> {
    const ids: string[] = [];
    for (let batch = 0; batch < batches; batch++) {
      const service = services[batch % services.length]!;
      const { status, body } = await service.post<{ ids: string[] }>('/jobs/batch', { jobs: Array.from({ length: BATCH }, () => job) });
      expect(status).toBe(201);
      ids.push(...body.ids);
    }
    return ids;
  }

  /** Each job is there once, was finished, and has a count for every start after its first. */
  async function expectAllDone(service: ServiceProcess, ids: readonly string[]): Promise<readonly JobView[]> {
    const { jobs } = await recount(service);
    expect(jobs.map(({ id }) => id)).toEqual([...ids].sort());
    expect(jobs.filter(({ state }) => state !== 'done')).toEqual([]);
    expect(unexplained(jobs)).toEqual([]);
    return jobs;
  }

  it('share its jobs, and start none twice without a count that says why', async () => {
    const services = await startTwo(['--hb-timeout-ms', '2000']);
    const ids = await submit(services, 8, { work_ms: 1, fail_prob: 0.1, hang_prob: 0.002, max_attempts: 20, max_requeues: 20 });
    await expectAllDone(services[0], ids);
    for (const service of services) expect(await statsOf(service)).toMatchObject({ done: ids.length });
  });

  it('are one where the other was killed: it finishes everything, what the other ran too', async () => {
    const [first, second] = await startTwo();
    const ids = await submit([first, second], 2, { work_ms: 200 });
    await eventually('the first has jobs of its own', async () => (await statsOf(first)).workers.busy > 0);
    await first.kill();
    const jobs = await expectAllDone(second, ids);
    expect(jobs.filter(({ requeues }) => requeues > 0).length).toBeGreaterThan(0);
  });
});
