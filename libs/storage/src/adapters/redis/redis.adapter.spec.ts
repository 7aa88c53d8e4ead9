import { jest } from '@jest/globals';
import type { StorageAdapter } from '../../contract/index.js';
import { describeStorageAdapter, type StorageFixture } from '../../testing/index.js';
import { describeRedis, RedisServer } from './redis-server.fixture.js';
import { RedisStorageAdapter } from './redis.adapter.js';
import { TcpProxy } from './tcp-proxy.fixture.js';

/** Real time passes, and other tests run beside. */
jest.setTimeout(30_000);

describeRedis('Redis', () => {
  let server: RedisServer;
  let cases = 0;

  beforeAll(async () => {
    server = await RedisServer.start();
  });

  afterAll(async () => {
    await server.stop();
  });

  /** A namespace for every case, and a wire for every adapter. */
  async function create(): Promise<StorageFixture> {
    const prefix = `kit-${++cases}`;
    const adapters: StorageAdapter[] = [];
    const wires: TcpProxy[] = [];
    const connect = async (): Promise<StorageAdapter> => {
      const wire = await TcpProxy.before(server.port);
      const adapter = new RedisStorageAdapter({ url: wire.url, prefix });
      wires.push(wire);
      adapters.push(adapter);
      return adapter;
    };
    const opened = async (): Promise<StorageAdapter> => {
      const adapter = await connect();
      await adapter.open();
      return adapter;
    };
    return {
      adapter: await connect(),
      advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      async reopen() {
        await adapters.at(-1)!.close();
        return opened();
      },
      async crash() {
        wires.at(-1)!.cut();
        return opened();
      },
      second: opened,
      async dispose() {
        await Promise.all(adapters.map((adapter) => adapter.close()));
        await Promise.all(wires.map((wire) => wire.close()));
      },
    };
  }

  describeStorageAdapter('RedisStorageAdapter', { create });
});
