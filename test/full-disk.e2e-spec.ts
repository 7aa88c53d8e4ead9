import { afterEach, beforeEach, expect, it } from '@jest/globals';
import {
  command,
  describeWith,
  eventually,
  JobClient,
  Ledger,
  LedgerClient,
  listAll,
  ROOT,
  SeenJobs,
  ServiceFixture,
  statsOf,
  violations,
  type ServiceProcess,
} from './harness/index.js';
import { Probe } from './harness/probe.js';
import { SmallDisk } from './harness/small-disk.js';

const MIB = 1024 * 1024;
const DISK_MIB = 4;
const CLIENTS = 16;
const BATCH = 50;
const RUNNING = 4;
const FAR_MS = 3_600_000;
const READINESS_LIMIT_MS = 1000;
const STORAGE_FULL = { status: 503, headers: { 'retry-after': '1' }, body: { code: 'storage_full' } };
const orchd = new ServiceFixture();

/** The clients of one test, at one service after the other. */
class Clients {
  readonly ledger = new Ledger('full');
  readonly #seen = new SeenJobs();

  /** Resolves with the ids of jobs that run for so long. */
  async run(service: ServiceProcess, workMs: number): Promise<string[]> {
    const client = this.#at(service);
    const outcomes = await Promise.all(Array.from({ length: RUNNING }, () => client.submit({ work_ms: workMs })));
    const ids = outcomes.map(({ submissions }) => submissions[0]!.id!);
    for (const id of ids) await new JobClient(service).reached(id, 'active');
    return ids;
  }

  /** All enqueue at once, until each of them is refused. */
  async fill(service: ServiceProcess): Promise<void> {
    const client = this.#at(service);
    const batch = Array.from({ length: BATCH }, () => ({ work_ms: 1, delay_ms: FAR_MS }));
    const enqueue = async (): Promise<void> => {
      const { answer } = await client.submitBatch(batch);
      if (answer?.status === 201) return enqueue();
      expect(answer).toMatchObject(STORAGE_FULL);
    };
    await Promise.all(Array.from({ length: CLIENTS }, enqueue));
  }

  /** Nothing that was acknowledged is lost, and nothing that was refused is there. */
  async expectSound(service: ServiceProcess): Promise<void> {
    expect(violations({ jobs: await listAll(service), stats: await statsOf(service) }, this.ledger, this.#seen)).toEqual([]);
  }

  #at({ port }: ServiceProcess): LedgerClient {
    return new LedgerClient(port, this.ledger, this.#seen);
  }
}

async function expectFull(service: ServiceProcess): Promise<void> {
  expect(await service.call('GET', '/readyz')).toMatchObject({
    status: 503,
    body: { details: { storage: { status: 'down', state: 'full' } } },
  });
  expect((await service.call('GET', '/healthz')).status).toBe(200);
  expect(await statsOf(service)).toMatchObject({ storage: { writable: false } });
  expect(await service.post('/jobs', { work_ms: 1 })).toMatchObject(STORAGE_FULL);
}

async function readyAgain(service: ServiceProcess): Promise<void> {
  await eventually('readiness', async () => (await service.call('GET', '/readyz')).status === 200);
}

describeWith([ROOT, command('mount')], `a disk of ${DISK_MIB} MiB that is full`, () => {
  let disk: SmallDisk;

  beforeEach(() => {
    disk = new SmallDisk(orchd.folder(), DISK_MIB);
    disk.fill(MIB);
  });
  afterEach(() => disk.unmount());

  it('is no reason to lose, to end or to stop reading: running jobs end, and with space all goes on', async () => {
    const service = await orchd.start({ dataDir: disk.folder });
    const clients = new Clients();
    const running = await clients.run(service, 3000);
    const readiness = new Probe(service.port, '/readyz');

    await clients.fill(service);
    await expectFull(service);
    for (const id of running) expect(await new JobClient(service).reached(id, 'done')).toMatchObject({ starts: 1 });
    await expectFull(service);
    await clients.expectSound(service);

    disk.free();
    await readyAgain(service);
    const acked = clients.ledger.allAcked.length;
    await clients.fill(service);
    expect(clients.ledger.allAcked.length).toBeGreaterThan(acked);
    await clients.expectSound(service);
    await readiness.stop();
    expect(readiness.slowestMs).toBeLessThan(READINESS_LIMIT_MS);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });

  it('is what a start may find: it comes up full, with everything, and is ready once there is space', async () => {
    const service = await orchd.start({ dataDir: disk.folder });
    const clients = new Clients();
    const running = await clients.run(service, 600_000);
    await clients.fill(service);
    disk.fill();
    await service.kill();

    const second = await orchd.launch({ dataDir: disk.folder }).listening();
    await eventually('the replay to end', async () => (await second.call('GET', '/stats')).status === 200);
    await expectFull(second);
    await clients.expectSound(second);
    for (const id of running) expect(await new JobClient(second).get(id)).toMatchObject({ state: 'ready', requeues: 1 });
    await second.kill();

    const third = await orchd.launch({ dataDir: disk.folder }).listening();
    await eventually('the replay to end', async () => (await third.call('GET', '/stats')).status === 200);
    await expectFull(third);
    disk.free();
    await readyAgain(third);
    for (const id of running) await new JobClient(third).reached(id, 'active');
    await clients.expectSound(third);
  });
});
