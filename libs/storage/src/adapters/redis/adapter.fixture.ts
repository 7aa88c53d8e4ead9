import type { JobRecord, NewJob, StorageAdapter } from '../../contract/index.js';
import type { RedisStorageOptions } from './redis-options.js';
import { RedisStorageAdapter } from './redis.adapter.js';
import type { RedisServer } from './redis-server.fixture.js';
import { TcpProxy } from './tcp-proxy.fixture.js';

const DEADLINE_MS = 15_000;
const LOOK_MS = 10;

/** Looks again and again until it sees what it waits for; throws what the last look threw. */
export async function eventually<T>(look: () => Promise<T> | T, deadlineMs = DEADLINE_MS): Promise<T> {
  const endMs = performance.now() + deadlineMs;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** How late this process was at most, in all its looks together: what a busy machine adds to a time that is measured. */
export class Lateness {
  static readonly #STEP_MS = 10;
  #expectedMs = performance.now() + Lateness.#STEP_MS;
  #lateMs = 0;
  readonly #timer = setInterval(() => {
    const nowMs = performance.now();
    this.#lateMs += Math.max(0, nowMs - this.#expectedMs);
    this.#expectedMs = nowMs + Lateness.#STEP_MS;
  }, Lateness.#STEP_MS);

  stop(): number {
    clearInterval(this.#timer);
    return this.#lateMs;
  }
}

/** Adapters of one namespace, each with a wire of its own, all gone with `dispose`. */
export class Namespace {
  static #number = 0;
  readonly warnings: string[] = [];
  readonly #server: RedisServer;
  readonly #adapters: StorageAdapter[] = [];
  readonly #wires: TcpProxy[] = [];

  /** @param prefix a namespace that is there already; else a new one */
  constructor(
    server: RedisServer,
    readonly prefix = `faults-${++Namespace.#number}`,
  ) {
    this.#server = server;
  }

  key(name: string): string {
    return `{${this.prefix}}:${name}`;
  }

  /** Not opened. */
  async adapter(options: RedisStorageOptions = {}): Promise<{ adapter: RedisStorageAdapter; wire: TcpProxy }> {
    const wire = await TcpProxy.before(this.#server.port);
    const warn = (message: string): void => void this.warnings.push(message);
    const adapter = new RedisStorageAdapter({ url: wire.url, prefix: this.prefix, warn, ...options });
    this.#wires.push(wire);
    this.#adapters.push(adapter);
    return { adapter, wire };
  }

  async opened(options: RedisStorageOptions = {}): Promise<{ adapter: RedisStorageAdapter; wire: TcpProxy }> {
    const connected = await this.adapter(options);
    await connected.adapter.open();
    return connected;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#adapters.map((adapter) => adapter.close()));
    await Promise.all(this.#wires.map((wire) => wire.close()));
  }
}

export const LEASE_MS = 60_000;
export const FAILED = { code: 'failed', message: 'no' } as const;

export function newJob(fields: Partial<NewJob> = {}): NewJob {
  return { queue: 'default', type: 'fault', payload: '{}', ...fields };
}

export async function add(adapter: StorageAdapter, fields: Partial<NewJob> = {}): Promise<string> {
  const [outcome] = await adapter.enqueue([newJob(fields)]);
  return outcome!.id;
}

export function take(adapter: StorageAdapter, limit = 1, leaseMs = LEASE_MS): Promise<JobRecord[]> {
  return adapter.claim({ queue: 'default', limit, owner: 'test', leaseMs });
}

export async function all(adapter: StorageAdapter): Promise<JobRecord[]> {
  const jobs: JobRecord[] = [];
  let cursor: string | null = null;
  do {
    const page = await adapter.list({ limit: 1000, ...(cursor !== null && { cursor }) });
    jobs.push(...page.jobs);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return jobs;
}

/** Claims and acks until nothing is left; resolves with the ids, in that order. */
export async function drain(adapter: StorageAdapter): Promise<string[]> {
  const done: string[] = [];
  for (let jobs = await take(adapter, 100); jobs.length > 0; jobs = await take(adapter, 100)) {
    await Promise.all(jobs.map((job) => adapter.ack(job)));
    done.push(...jobs.map(({ id }) => id));
  }
  return done;
}
