import { afterAll, beforeAll } from '@jest/globals';
import { RedisServer } from '../../libs/storage/src/adapters/redis/redis-server.fixture.js';
import { command, type Need } from './describe-with.js';

export const REDIS: Need = command('redis-server');

/**
 * The storage of this run of the suite, where a test names none. Jest's project `e2e-redis` runs its files a second time;
 * `ORCHD_STORAGE=redis npm run test:e2e -- workers` any file.
 */
export const SUITE_STORAGE = 'suiteStorage' in globalThis || process.env.ORCHD_STORAGE === 'redis' ? 'redis' : 'wal';

const LONGEST_PREFIX = 64;

/** A Redis of this file's own, there from the first test to the last. */
export class RedisFixture {
  #server: RedisServer | null = null;

  constructor(...args: string[]) {
    beforeAll(async () => void (this.#server = REDIS.met ? await RedisServer.start(...args) : null));
    afterAll(() => this.#server?.stop());
  }

  /** What makes orchd keep in Redis what it would keep in this folder. */
  flagsFor(dataDir: string): string[] {
    return ['--redis-url', this.server.url, '--redis-prefix', dataDir.replace(/[^A-Za-z0-9_.-]/g, '-').slice(-LONGEST_PREFIX)];
  }

  get server(): RedisServer {
    return this.#server!;
  }
}
