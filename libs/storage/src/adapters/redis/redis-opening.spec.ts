import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { InvalidArgumentError } from '../../contract/index.js';
import { RedisStorageAdapter } from './redis.adapter.js';

/** Answers every command as a server of that version would answer INFO. */
class FakeRedis {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(info: string) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        for (const command of chunk.toString().match(/\*\d+\r\n\$\d+\r\n(\w+)/g) ?? []) {
          const isInfo = /info$/i.test(command);
          socket.write(isInfo ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n');
        }
      });
    });
  }

  async url(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe('opening a Redis', () => {
  it.each(['5.0.14', '6.0.16', '6.2.14'])('refuses version %s by its name (G33)', async (version) => {
    const fake = new FakeRedis(`# Server\r\nredis_version:${version}\r\nrun_id:abc\r\n`);
    const adapter = new RedisStorageAdapter({ url: await fake.url() });
    await expect(adapter.open()).rejects.toMatchObject({ code: 'storage_unavailable', message: expect.stringContaining(version) });
    expect(adapter.health().state).toBe('closed');
    await adapter.close();
    await fake.close();
  });

  it('waits while the server is loading its data (G15)', async () => {
    const fake = new FakeRedis('# Server\r\nredis_version:7.0.0\r\nloading:1\r\n');
    const adapter = new RedisStorageAdapter({ url: await fake.url() });
    const opening = adapter.open();
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (adapter.health().reason?.includes('LOADING')) resolve();
        else setImmediate(look);
      };
      look();
    });
    await adapter.close();
    await expect(opening).rejects.toMatchObject({ code: 'storage_unavailable' });
    await fake.close();
  });

  it.each([
    ['redisUrl', { url: 'localhost:6379' }],
    ['redisUrl', { url: 'redis://h:99999' }],
    ['redisPrefix', { prefix: 'a{b}' }],
    ['redisPrefix', { prefix: '' }],
    ['commandTimeoutMs', { commandTimeoutMs: 0 }],
  ])('refuses a bad %s before it connects', (field, options) => {
    const make = (): unknown => new RedisStorageAdapter(options);
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(expect.objectContaining({ field }));
  });
});
