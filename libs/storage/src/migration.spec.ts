import { jest } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeRedis, RedisServer } from './adapters/redis/redis-server.fixture.js';
import type { JobRecord, StorageAdapter } from './contract/index.js';
import { migrate, type StorageSettings } from './migration.js';
import { createStorage } from './storage.factory.js';

/** Real disks, and other tests run beside. */
jest.setTimeout(30_000);

const LEASE = { queue: 'default', owner: 'spec', leaseMs: 60_000 };
const JOBS = 600;
const NO = { code: 'failed', message: 'no' } as const;
/** Fails when the target has taken so many. */
const FAULT = new Error('the process ended here');

let root: string;
/** The log whose jobs are moved. */
let from: string;
const open: StorageAdapter[] = [];

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'orchd-migration-'));
  from = join(root, 'from');
  await fill(from);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((storage) => storage.close()));
  rmSync(root, { recursive: true });
});

async function opened(settings: StorageSettings): Promise<StorageAdapter> {
  const storage = await createStorage(settings);
  open.push(storage);
  await storage.open();
  return storage;
}

/** A log with jobs in every state, one of them running, and many that wait. */
async function fill(dataDir: string): Promise<void> {
  const storage = await opened({ storage: 'wal', dataDir });
  const job = (id: string, more: object = {}) => ({
    id,
    queue: 'default',
    type: 't',
    payload: `of ${id}`,
    dedupeKey: `key of ${id}`,
    ...more,
  });
  await storage.enqueue(['done', 'retried', 'dead', 'running'].map((id) => job(id, { priority: 9, fingerprint: id })));
  const [done, retried, dead, running] = await storage.claim({ ...LEASE, limit: 4 });
  await storage.ack(done!, 'its result');
  await storage.nack(retried!, NO, { retryInMs: 3_600_000 });
  await storage.nack(dead!, NO, { dead: true });
  await storage.extend([{ lease: running!, progress: { percent: 40, note: 'on the way' }, log: ['a line'] }], 60_000);
  await storage.enqueue([job('dropped'), job('later', { delayMs: 7_200_000 }), job('instant', { runAt: Date.now() + 3_600_000 })]);
  await storage.cancel('dropped');
  await storage.enqueue(Array.from({ length: JOBS }, (_, i) => job(`z-${(i * 7919) % JOBS}`)));
  await storage.close();
}

async function jobsOf(storage: StorageAdapter): Promise<JobRecord[]> {
  const jobs: JobRecord[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await storage.list({ limit: 1000, ...(cursor !== '' && { cursor }) });
    jobs.push(...page.jobs);
    cursor = page.nextCursor;
  }
  return jobs;
}

async function drained(storage: StorageAdapter): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const jobs = await storage.claim({ ...LEASE, limit: 100 });
    if (jobs.length === 0) return ids;
    ids.push(...jobs.map(({ id }) => id));
    await Promise.all(jobs.map((job) => storage.ack(job)));
  }
}

/** What the log itself shows when it is opened again. */
async function seenIn(dataDir: string): Promise<{ jobs: JobRecord[]; order: string[] }> {
  const storage = await opened({ storage: 'wal', dataDir, force: true });
  const jobs = await jobsOf(storage);
  const order = await drained(storage);
  await storage.close();
  return { jobs, order };
}

function marker(dataDir: string): unknown {
  return JSON.parse(readFileSync(join(dataDir, 'MIGRATED'), 'utf8'));
}

/** The claims that hold whatever the target is. */
function describeMoves(target: () => StorageSettings): void {
  it('keeps every job as a start would have found it, and the order in which they are handed out', async () => {
    const report = await migrate({ from, to: target() });
    expect(report).toMatchObject({ total: JOBS + 7, imported: JOBS + 7, present: 0, taken: [] });
    const storage = await opened(target());
    const jobs = await jobsOf(storage);
    const byId = new Map(jobs.map((job) => [job.id, job]));
    expect(byId.get('running')).toMatchObject({ state: 'ready', starts: 1, requeues: 1, progress: { percent: 40 }, log: ['a line'] });
    expect(byId.get('done')).toMatchObject({ state: 'done', result: 'its result', payload: 'of done' });
    expect(byId.get('retried')).toMatchObject({ state: 'delayed', attempts: 1, error: { code: 'failed' } });
    const order = await drained(storage);
    expect({ jobs, order }).toEqual(await seenIn(from));
  });

  it('moves nothing twice: run again, also after work on the target, it leaves that as it is', async () => {
    await migrate({ from, to: target() });
    const first = marker(from);
    const storage = await opened(target());
    await drained(storage);
    await storage.redrive('dead');
    const before = await jobsOf(storage);
    await storage.close();
    expect(await migrate({ from, to: target() })).toMatchObject({ imported: 0, present: JOBS + 7 });
    expect(await jobsOf(await opened(target()))).toEqual(before);
    expect(marker(from)).toEqual(first);
  });

  it('goes on where it was interrupted; until then nobody starts on the folder', async () => {
    const interrupted = migrate({
      from,
      to: target(),
      onProgress: () => {
        throw FAULT;
      },
    });
    await expect(interrupted).rejects.toBe(FAULT);
    expect(marker(from)).toMatchObject({ finishedAt: null });
    await expect(opened({ storage: 'wal', dataDir: from })).rejects.toMatchObject({ code: 'storage_migrated' });
    const { imported, present, taken } = await migrate({ from, to: target() });
    expect([imported + present, taken]).toEqual([JOBS + 7, []]);
    expect(Math.min(imported, present)).toBeGreaterThan(0);
    expect(marker(from)).toMatchObject({ finishedAt: expect.any(String) });
    expect(await drained(await opened(target()))).toEqual((await seenIn(from)).order);
  });

  it('names the jobs whose id or key another job has, moves all others, and does not call it finished', async () => {
    const storage = await opened(target());
    await storage.enqueue([
      { id: 'done', queue: 'default', type: 'other', payload: '' },
      { id: 'somebody', queue: 'default', type: 'other', payload: '', dedupeKey: 'key of dead' },
    ]);
    await storage.close();
    const report = await migrate({ from, to: target() });
    expect(report).toMatchObject({ imported: JOBS + 5, present: 0 });
    expect([...report.taken].sort()).toEqual(['dead', 'done']);
    expect(marker(from)).toMatchObject({ finishedAt: null });
  });

  it('refuses to move the same jobs to a second place, unless it is forced', async () => {
    await migrate({ from, to: target() });
    const elsewhere: StorageSettings = { storage: 'wal', dataDir: join(root, 'elsewhere') };
    await expect(migrate({ from, to: elsewhere })).rejects.toMatchObject({ code: 'storage_migrated' });
    expect(existsSync(join(root, 'elsewhere'))).toBe(false);
    expect(await migrate({ from, to: elsewhere, force: true })).toMatchObject({ imported: JOBS + 7 });
  });

  it('refuses a log that is in use, and leaves it unmarked', async () => {
    await opened({ storage: 'wal', dataDir: from });
    await expect(migrate({ from, to: target() })).rejects.toMatchObject({ code: 'storage_locked' });
    expect(existsSync(join(from, 'MIGRATED'))).toBe(false);
  });
}

describe('Moving jobs from one log to another', () => {
  describeMoves(() => ({ storage: 'wal', dataDir: join(root, 'to') }));

  it.each([
    ['the folder itself', '.'],
    ['a folder in it', 'below'],
  ])('refuses %s as the target', async (_, name) => {
    await expect(migrate({ from, to: { storage: 'wal', dataDir: join(from, name) } })).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('refuses a folder without a log, and makes none', async () => {
    const nothing = join(root, 'nothing');
    const to: StorageSettings = { storage: 'wal', dataDir: join(root, 'to') };
    await expect(migrate({ from: nothing, to })).rejects.toMatchObject({ code: 'invalid_argument' });
    expect([existsSync(nothing), existsSync(join(root, 'to'))]).toEqual([false, false]);
  });

  it('refuses to move jobs into the memory of this process', async () => {
    await expect(migrate({ from, to: { storage: 'memory' } })).rejects.toMatchObject({ code: 'invalid_argument' });
    expect(existsSync(join(from, 'MIGRATED'))).toBe(false);
  });
});

describeRedis('Moving jobs from a log to Redis', () => {
  let server: RedisServer;
  let namespaces = 0;
  beforeAll(async () => void (server = await RedisServer.start()));
  afterAll(() => server.stop());
  beforeEach(() => void namespaces++);
  const target = (): StorageSettings => ({ storage: 'redis', redisUrl: server.url, redisPrefix: `moved-${namespaces}` });

  describeMoves(target);

  it('tells nobody the password, in the marker and in the report', async () => {
    await server.do('ACL', 'SETUSER', 'mover', 'on', '>secret', '~*', '&*', '+@all');
    const redisUrl = server.url.replace('//', '//mover:secret@');
    const { to } = await migrate({ from, to: { ...target(), redisUrl } });
    expect(to).toBe(`${server.url} (prefix moved-${namespaces})`);
    expect(marker(from)).toMatchObject({ to });
  });

  it('ends when Redis is full, and goes on when there is room again', async () => {
    await server.do('CONFIG', 'SET', 'maxmemory', '1');
    await expect(migrate({ from, to: target() })).rejects.toMatchObject({ code: 'storage_full' });
    await server.do('CONFIG', 'SET', 'maxmemory', '0');
    expect(await migrate({ from, to: target() })).toMatchObject({ imported: JOBS + 7 });
  });
});
