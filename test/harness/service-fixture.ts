import { afterAll, afterEach, jest } from '@jest/globals';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisFixture, SUITE_STORAGE } from './redis.js';
import { ServiceProcess, type Launch } from './service-process.js';

/** A busy machine may need seconds to start a process. */
const TEST_LIMIT_MS = 60_000;
/** Of a process that was killed: the others get its jobs when this has passed. */
const REDIS_LEASE_MS = '2000';

export interface ServiceOptions extends Partial<Launch> {
  /** Default: a new folder of this fixture. Give the folder of an earlier service to restart on it; on Redis it stands for a namespace. */
  readonly dataDir?: string;
  /** Default: the storage that this run of the suite is about. */
  readonly storage?: string;
  /** Default 0: a free one. */
  readonly port?: number;
}

/**
 * Services and folders of one test file. What a test leaves running is killed after it (or after all tests, for a service that they only
 * look at); its folders are removed.
 */
export class ServiceFixture {
  readonly #services: ServiceProcess[] = [];
  readonly #folders: string[] = [];
  /** There where the suite runs on Redis. */
  readonly #redis: RedisFixture | null;

  constructor(lifetime: 'test' | 'file' = 'test') {
    jest.setTimeout(TEST_LIMIT_MS);
    this.#redis = SUITE_STORAGE === 'redis' ? new RedisFixture() : null;
    (lifetime === 'test' ? afterEach : afterAll)(() => this.#cleanUp());
  }

  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'orchd-e2e-'));
    this.#folders.push(folder);
    return folder;
  }

  /** Starts the service and leaves it to the caller what to wait for. */
  launch({ flags = [], storage = SUITE_STORAGE, dataDir, port = 0, ...rest }: ServiceOptions = {}): ServiceProcess {
    const place = this.#placeOf(storage, dataDir);
    const service = new ServiceProcess({ ...rest, flags: ['--port', String(port), '--storage', storage, ...place, ...flags] });
    this.#services.push(service);
    return service;
  }

  /** Starts the service with exactly these flags. */
  launchBare(launch: Launch): ServiceProcess {
    const service = new ServiceProcess(launch);
    this.#services.push(service);
    return service;
  }

  /** Resolves when the service is ready. */
  start(options: ServiceOptions = {}): Promise<ServiceProcess> {
    return this.launch(options).ready();
  }

  #placeOf(storage: string, dataDir: string | undefined): string[] {
    if (storage === 'memory' && dataDir === undefined) return [];
    const folder = dataDir ?? this.folder();
    if (storage !== 'redis' || this.#redis === null) return ['--data-dir', folder];
    return [...this.#redis.flagsFor(folder), '--lease-ms', REDIS_LEASE_MS];
  }

  async #cleanUp(): Promise<void> {
    await Promise.all(this.#services.splice(0).map((service) => service.kill()));
    for (const folder of this.#folders.splice(0)) {
      chmodSync(folder, 0o700);
      rmSync(folder, { recursive: true, force: true });
    }
  }
}
