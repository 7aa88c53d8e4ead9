import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { JobRecord } from '../../contract/index.js';
import { ManualClock } from '../../testing/index.js';
import { settled } from './log/log.fixture.js';
import { MemoryDisk } from './log/memory-disk.fixture.js';
import { MemoryFileSystem } from './log/memory-file-system.fixture.js';
import { WalStorageAdapter, type WalStorageOptions } from './wal.adapter.js';

/** Files by name: the segments of a log and its LOCK. Spares are left out, they are zeroes. */
export type LogFiles = Map<string, Buffer>;

const DIR = '/data';
const GOLDEN = path.join(import.meta.dirname, 'golden');
const PID = / pid \d+ *\n$/;
const HOUR_MS = 3_600_000;

/** The machine of a golden log: nothing on it is left to chance. */
export class GoldenMachine {
  readonly clock = new ManualClock(Date.UTC(2026, 0, 1));
  readonly disk: MemoryDisk;
  readonly warnings: string[] = [];
  #salts = 0;

  constructor(files: LogFiles = new Map()) {
    this.disk = new MemoryDisk();
    for (const [name, bytes] of files) this.disk.plant(`${DIR}/${name}`, bytes);
  }

  get fs(): MemoryFileSystem {
    return new MemoryFileSystem(this.disk);
  }

  async boot(options: Partial<WalStorageOptions> = {}): Promise<WalStorageAdapter> {
    const newSalt = () => Buffer.from(`salt${String(++this.#salts).padStart(4, '0')}`);
    const warn = (message: string) => void this.warnings.push(message);
    const settings = { dir: DIR, fs: this.fs, clock: this.clock, random: () => 0.25, segmentBytes: 8192, warn, newSalt };
    const adapter = new WalStorageAdapter({ ...settings, ...options });
    await adapter.open();
    return adapter;
  }

  /** LOCK without the number of this process. */
  files(): LogFiles {
    const names = [...this.disk.names.keys()].map((name) => path.basename(name)).filter((name) => !name.startsWith('spare-'));
    const bytes = (name: string) => this.disk.names.get(`${DIR}/${name}`)!.cache;
    return new Map(names.sort().map((name) => [name, name === 'LOCK' ? anonymous(bytes(name)) : bytes(name)]));
  }
}

/** `golden/NAME`, as it was committed. */
export function readGolden(name: string): LogFiles {
  const folder = path.join(GOLDEN, name);
  return new Map(
    readdirSync(folder)
      .sort()
      .map((file) => [file, readFileSync(path.join(folder, file))]),
  );
}

export function writeGolden(name: string, files: LogFiles): void {
  const folder = path.join(GOLDEN, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [file, bytes] of files) writeFileSync(path.join(folder, file), bytes);
}

/** Two boots that write every kind of record and of batch; the second one is killed while it holds a lease. */
export async function liveGoldenLife(machine: GoldenMachine): Promise<void> {
  const first = await machine.boot();
  await enqueueEveryForm(first, machine.clock.wallMs());
  await churnUntilCleaned(first);
  await settleInEveryWay(first, machine.clock);
  await first.close();

  machine.clock.advance(HOUR_MS);
  const second = await machine.boot();
  await cleaned();
  await second.enqueue([{ id: 'held', queue: 'held', type: 'noop', payload: '{}', dedupeKey: 'held', fingerprint: 'f2' }]);
  await claim(second, 1, 'held');
  await second.prune({ keepFinished: 4, keepFinishedMs: 0, keepDeadMs: 0 });
  await settled();
  machine.clock.advance(200); // idle for so long that a mark is written
  await settled();
  await second.enqueue([{ id: 'last', queue: 'default', type: 'noop', payload: '{}' }]);
  machine.disk.kill();
}

/** The large ones keep the cleaner from making one segment of all. */
async function enqueueEveryForm(adapter: WalStorageAdapter, now: number): Promise<void> {
  const job = (id: string) => ({ id, queue: 'default', type: 'noop', payload: `{"id":"${id}"}` });
  await adapter.enqueue([
    { ...job('ancient'), queue: 'mail', delayMs: 100 * 24 * HOUR_MS },
    ...['large', 'larger'].map((id) => ({ ...job(id), queue: 'mail', delayMs: 100 * 24 * HOUR_MS, payload: 'x'.repeat(6000) })),
    { ...job('instant'), queue: 'mail', runAt: now + 10 * 24 * HOUR_MS },
    { ...job('soon'), queue: 'soon', delayMs: 1000 },
    { ...job('keyed'), queue: 'mail', dedupeKey: 'a "key" 🐎', fingerprint: 'f1', timeoutMs: 5000, backoff: { baseMs: 7, capMs: 70 } },
    { ...job('odd'), queue: 'mail', payload: '"]\n["p",["x"]]\u2028\\ žluťoučký 🐎', maxAttempts: 1, maxRequeues: 0 },
  ]);
  const delivered = ['acked', 'told', 'failed', 'dead', 'redriven', 'released', 'snoozed', 'hung', 'stopped'];
  await adapter.enqueue(delivered.map((id) => ({ ...job(id), priority: 9 })));
  await adapter.enqueue([{ ...job('cancelled'), queue: 'mail', priority: 0 }]);
}

async function settleInEveryWay(adapter: WalStorageAdapter, clock: ManualClock): Promise<void> {
  const jobs = new Map((await claim(adapter, 100)).map((job) => [job.id, job]));
  const lease = (id: string) => jobs.get(id)!;
  const failure = { code: 'failed', message: 'a "reason"\n' } as const;
  clock.advance(20);
  await adapter.extend([{ lease: lease('told'), progress: { percent: 50, note: 'half' }, log: ['a line', '"another"'] }], HOUR_MS);
  await adapter.ack(lease('acked'));
  await adapter.ack(lease('told'), '{"result":true}');
  await adapter.nack(lease('failed'), failure, { retryInMs: 15 });
  await adapter.nack(lease('dead'), failure, { dead: true });
  await adapter.nack(lease('redriven'), failure, { dead: true });
  await adapter.redrive('redriven');
  await adapter.release(lease('released'));
  await adapter.release(lease('snoozed'), { inMs: HOUR_MS });
  await adapter.requeue(lease('hung'), 'hung');
  await adapter.cancel('cancelled');
  await adapter.cancel('stopped');
  await adapter.ack(lease('stopped')).catch(() => undefined); // too late: lease_lost, and the job is cancelled
  clock.advance(2000);
  await claim(adapter, 1, 'soon'); // promotes first; active when the boot ends
}

/** Finished jobs come and go until the first segment is in the way; what lives in it is copied. */
async function churnUntilCleaned(adapter: WalStorageAdapter): Promise<void> {
  for (let round = 0; round < 8; round++) {
    const ids = Array.from({ length: 10 }, (_, i) => `churn-${round}-${i}`);
    await adapter.enqueue(ids.map((id) => ({ id, queue: 'churn', type: 'noop', payload: 'x'.repeat(200) })));
    for (const job of await claim(adapter, 10, 'churn')) await adapter.ack(job);
  }
  await adapter.prune({ keepFinished: 2, keepFinishedMs: 0, keepDeadMs: 0 });
  await cleaned();
}

/** What the cleaner had to do is done. */
function cleaned(): Promise<void> {
  return settled(200);
}

function claim(adapter: WalStorageAdapter, limit: number, queue = 'default'): Promise<JobRecord[]> {
  return adapter.claim({ queue, limit, owner: 'golden', leaseMs: HOUR_MS });
}

function anonymous(lock: Buffer): Buffer {
  const line = lock.toString('latin1').replace(PID, ' pid 1');
  return Buffer.from(`${line.padEnd(lock.length - 1)}\n`, 'latin1');
}
