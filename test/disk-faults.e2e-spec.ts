import { expect, it } from '@jest/globals';
import {
  C_COMPILER,
  cutPower,
  describeWith,
  DiskShim,
  Ledger,
  LedgerClient,
  listAll,
  recount,
  seeded,
  SeenJobs,
  ServiceFixture,
  statsOf,
  Traffic,
  type Outcome,
  violations,
} from './harness/index.js';
import { Probe } from './harness/probe.js';

const MIB = 1024 * 1024;
const PROBE_LIMIT_MS = 1000;
/** What may wait for the disk; beyond it new jobs are refused. */
const WAITING_LIMIT_MIB = 64;
const RESIDENT_LIMIT_MIB = 512;
/** What the one write under way has taken out of the line. */
const IN_FLIGHT_MIB = 2;
const orchd = new ServiceFixture();

/** Restarts on the folder, without the shim, and holds it against the ledger. */
async function expectSound(dataDir: string, ledger: Ledger, seen: SeenJobs): Promise<void> {
  const service = await orchd.start({ dataDir });
  expect(violations(await recount(service), ledger, seen)).toEqual([]);
}

/** Nearly as large as a request may be. */
function bigJob(): Record<string, unknown> {
  return { type: 'big', payload: 'x'.repeat(MIB - 1024) };
}

describeWith([C_COMPILER], 'a sync that fails once, with 64 clients waiting', () => {
  it('ends the service with exit code 74; nothing acknowledged or shown is lost, nothing refused is there', async () => {
    await seeded(async (random) => {
      const [dataDir, ledger, seen] = [orchd.folder(), new Ledger('eio'), new SeenJobs()];
      const shim = new DiskShim(orchd.folder());
      shim.slow({ syncMs: 5 });
      const service = await orchd.start({ dataDir, env: shim.env(dataDir, { journal: true }) });
      const readiness = new Probe(service.port, '/readyz');
      const traffic = new Traffic(service, ledger, seen, random);
      await ledger.answered(random.between(200, 800), service.exited);
      shim.failOneSync();
      expect(await service.exited).toEqual({ code: 74, signal: null });
      await traffic.stop();
      await readiness.stop();
      expect(traffic.client.surprises).toEqual([]);
      expect(ledger.with('unknown').length).toBeGreaterThan(0);
      expect(readiness.slowestMs).toBeLessThan(PROBE_LIMIT_MS);
      // What the failed sync did not make safe may be gone, and nothing else.
      cutPower(dataDir, shim.journal(), random);
      await expectSound(dataDir, ledger, seen);
    });
  });
});

describeWith([C_COMPILER], 'a disk that stands still', () => {
  it('bounds what waits for it; reads say that it is slow, probes and figures do not wait; then all goes on', async () => {
    const [dataDir, ledger, seen] = [orchd.folder(), new Ledger('slow'), new SeenJobs()];
    const shim = new DiskShim(orchd.folder());
    const service = await orchd.start({ dataDir, env: shim.env(dataDir), flags: ['--role', 'api'] });
    const client = new LedgerClient(service.port, ledger, seen);
    const [first] = (await client.submit(bigJob())).submissions;
    const probes = [new Probe(service.port, '/readyz'), new Probe(service.port, '/healthz')];

    shim.slow({ syncMs: 600_000 });
    const waiting: Promise<Outcome>[] = [];
    while (ledger.with('refused').length === 0 && waiting.length < 2 * WAITING_LIMIT_MIB) {
      waiting.push(client.submit(bigJob()), client.submit(bigJob()));
      await statsOf(service);
    }
    expect(ledger.with('refused').length).toBeGreaterThan(0);
    expect(await service.call('GET', `/jobs/${first!.id}`)).toMatchObject({ status: 503, body: { code: 'storage_slow' } });
    expect(await statsOf(service)).toMatchObject({ jobs: 1, storage: { writable: true } });
    expect(ledger.with('sent').length).toBeLessThanOrEqual(WAITING_LIMIT_MIB + IN_FLIGHT_MIB);

    shim.slow({});
    const refusals = (await Promise.all(waiting)).map(({ answer }) => answer!).filter(({ status }) => status !== 201);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, body: { code: 'storage_busy' } });
    }
    for (const probe of probes) {
      await probe.stop();
      expect(probe.slowestMs).toBeLessThan(PROBE_LIMIT_MS);
      expect(new Set(probe.statuses)).toEqual(new Set([200]));
    }
    expect(ledger.with('sent', 'unknown')).toEqual([]);
    expect(service.peakMib).toBeLessThan(RESIDENT_LIMIT_MIB);
    const jobs = await listAll(service);
    expect(violations({ jobs, stats: await statsOf(service) }, ledger, seen)).toEqual([]);
  });
});

describeWith([C_COMPILER], 'SIGTERM with a slow disk under load', () => {
  it('ends with exit code 0, and what was acknowledged is on disk: a power cut then takes nothing', async () => {
    await seeded(async (random) => {
      const [dataDir, ledger, seen] = [orchd.folder(), new Ledger('stop'), new SeenJobs()];
      const shim = new DiskShim(orchd.folder());
      shim.slow({ syncMs: 300 });
      const service = await orchd.start({ dataDir, env: shim.env(dataDir, { journal: true }) });
      const traffic = new Traffic(service, ledger, seen, random);
      await ledger.answered(random.between(100, 300), service.exited);
      expect(await service.stop()).toEqual({ code: 0, signal: null });
      await traffic.stop();
      cutPower(dataDir, shim.journal(), random);
      await expectSound(dataDir, ledger, seen);
    });
  });
});
