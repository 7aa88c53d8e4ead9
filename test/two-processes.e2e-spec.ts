import { describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command, describeWith, eventually, listAll, ROOT, ServiceFixture, statsOf, type ServiceProcess } from './harness/index.js';
import { digests } from './harness/digests.js';
import { JobClient } from './harness/job-client.js';

/** "Within 2 s" for a process on a machine that has nothing else to do; the slower the machine, the longer Node itself takes to start. */
const EXIT_LIMIT_MS = 10_000;
const OCCUPIED = { code: 75, signal: null };
const orchd = new ServiceFixture();

async function expectOccupied(service: ServiceProcess): Promise<void> {
  const started = performance.now();
  expect(await service.exited).toEqual(OCCUPIED);
  expect(performance.now() - started).toBeLessThan(EXIT_LIMIT_MS);
  expect(service.stderr).toMatch(/^orchd: .* is in use by another orchd \(pid \d+\)\.\n$/);
}

/** A service that runs a job, and moves no byte until it may go on. */
async function stoodStill(dataDir: string): Promise<{ service: ServiceProcess; id: string }> {
  const service = await orchd.start({ dataDir });
  const jobs = new JobClient(service);
  const id = await jobs.accepted({ work_ms: 1000 });
  await jobs.reached(id, 'active');
  service.signal('SIGSTOP');
  return { service, id };
}

describe('a second process on a folder', () => {
  it('ends with exit code 75 and has touched no byte, also while the first stands still with a job', async () => {
    const dataDir = orchd.folder();
    const { service, id } = await stoodStill(dataDir);
    const before = digests(dataDir);
    await expectOccupied(orchd.launch({ dataDir }));
    await expectOccupied(orchd.launch({ dataDir, flags: ['--fsync', 'never', '--role', 'api'] }));
    expect(digests(dataDir)).toEqual(before);
    service.signal('SIGCONT');
    expect(await new JobClient(service).reached(id, 'done')).toMatchObject({ starts: 1, requeues: 0 });
  });

  it('gets it as soon as the first was killed', async () => {
    const dataDir = orchd.folder();
    const { service, id } = await stoodStill(dataDir);
    await service.kill();
    const second = await orchd.start({ dataDir });
    expect(await new JobClient(second).reached(id, 'done')).toMatchObject({ starts: 2, requeues: 1 });
  });

  it('gets it whatever a LOCK that nobody holds says: the pid of a living process, or nonsense', async () => {
    const dataDir = orchd.folder();
    for (const line of [`boot 1 pid ${process.pid}`, 'nonsense', '']) {
      const service = await orchd.start({ dataDir });
      await new JobClient(service).accepted({ work_ms: 1 });
      await service.kill();
      writeFileSync(join(dataDir, 'LOCK'), line.padEnd(63) + '\n');
    }
    const last = await orchd.start({ dataDir });
    expect(await listAll(last)).toHaveLength(3);
  });

  it('is never one of two: of several that start at once one comes up, and the others end with exit code 75', async () => {
    const dataDir = orchd.folder();
    const services = Array.from({ length: 4 }, () => orchd.launch({ dataDir }));
    const codes: (number | null)[] = [];
    for (const service of services) void service.exited.then(({ code }) => codes.push(code));
    await eventually('all but one to end', () => codes.length === services.length - 1);
    expect(codes).toEqual([75, 75, 75]);
    const up = services.find(({ stderr }) => stderr === '')!;
    await up.ready();
    expect(await statsOf(up)).toMatchObject({ jobs: 0 });
  });
});

describeWith([ROOT, command('unshare')], 'a second process in another network namespace', () => {
  it('ends with exit code 75 too: the lock is of the file system', async () => {
    const dataDir = orchd.folder();
    const { service } = await stoodStill(dataDir);
    const before = digests(dataDir);
    await expectOccupied(orchd.launch({ dataDir, wrapper: ['unshare', '--net'], flags: ['--host', '0.0.0.0'] }));
    expect(digests(dataDir)).toEqual(before);
    service.signal('SIGCONT');
  });
});
