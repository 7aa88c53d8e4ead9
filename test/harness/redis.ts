import { afterAll, beforeAll } from '@jest/globals';
import { RedisServer } from '../../libs/storage/src/adapters/redis/redis-server.fixture.js';
import { command, type Need } from './describe-with.js';

export const REDIS: Need = command('redis-server');

/** A Redis of this file's own, there from the first test to the last. */
export class RedisFixture {
  #server: RedisServer | null = null;

  constructor(...args: string[]) {
    beforeAll(async () => void (this.#server = REDIS.met ? await RedisServer.start(...args) : null));
    afterAll(() => this.#server?.stop());
  }

  get server(): RedisServer {
    return this.#server!;
  }
}
