import { afterAll, afterEach, jest } from '@jest/globals';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceProcess, type Launch } from './service-process.js';

/** A busy machine may need seconds to start a process. */
const TEST_LIMIT_MS = 60_000;

export interface ServiceOptions extends Partial<Launch> {
  /** Default: a new folder of this fixture. Give the folder of an earlier service to restart on it. */
  readonly dataDir?: string;
  /** Default `wal`. */
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

  constructor(lifetime: 'test' | 'file' = 'test') {
    jest.setTimeout(TEST_LIMIT_MS);
    (lifetime === 'test' ? afterEach : afterAll)(() => this.#cleanUp());
  }

  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'orchd-e2e-'));
    this.#folders.push(folder);
    return folder;
  }

  /** Starts the service and leaves it to the caller what to wait for. */
  launch({ flags = [], storage = 'wal', dataDir, port = 0, ...rest }: ServiceOptions = {}): ServiceProcess {
    const place = storage === 'memory' && dataDir === undefined ? [] : ['--data-dir', dataDir ?? this.folder()];
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

  async #cleanUp(): Promise<void> {
    await Promise.all(this.#services.splice(0).map((service) => service.kill()));
    for (const folder of this.#folders.splice(0)) {
      chmodSync(folder, 0o700);
      rmSync(folder, { recursive: true, force: true });
    }
  }
}
