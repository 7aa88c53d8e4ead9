import { jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { StorageAdapter } from '../../contract/index.js';
import { add, all, drain, eventually, take } from './adapter.fixture.js';
import { describeRedis, RedisServer } from './redis-server.fixture.js';
import { RedisStorageAdapter } from './redis.adapter.js';

jest.setTimeout(60_000);

const MASTERS = 3;

describeRedis('Redis Cluster', () => {
  let servers: RedisServer[];
  const adapters: StorageAdapter[] = [];

  beforeAll(async () => {
    servers = await Promise.all(
      Array.from({ length: MASTERS }, () => RedisServer.start('--cluster-enabled', 'yes', '--cluster-node-timeout', '2000')),
    );
    const nodes = servers.map(({ port }) => `127.0.0.1:${port}`);
    const cli = spawn('redis-cli', ['--cluster', 'create', ...nodes, '--cluster-yes'], { stdio: 'ignore' });
    const [status] = (await once(cli, 'close')) as [number];
    expect(status).toBe(0);
    for (const server of servers) await eventually(async () => expect(await server.do('cluster', 'info')).toContain('cluster_state:ok'));
  });

  afterEach(async () => {
    await Promise.all(adapters.splice(0).map((adapter) => adapter.close()));
  });

  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
  });

  async function opened(url: string, prefix: string): Promise<StorageAdapter> {
    const adapter = new RedisStorageAdapter({ url, prefix });
    adapters.push(adapter);
    await adapter.open();
    return adapter;
  }

  it('goes to the node that has the namespace, whichever it is asked through (G18)', async () => {
    for (const [i, server] of servers.entries()) {
      const writer = await opened(server.url, 'tenant');
      await add(writer, { id: `job-${i}`, payload: 'x'.repeat(500), dedupeKey: `key ${i}` });
      await add(writer, { id: `later-${i}`, delayMs: 5 });
    }
    const reader = await opened(servers[0]!.url, 'tenant');
    await eventually(async () => {
      await drain(reader);
      expect((await all(reader)).filter(({ state }) => state === 'done')).toHaveLength(2 * MASTERS);
    });
  });

  it('keeps namespaces apart, on different nodes', async () => {
    const prefixes = Array.from({ length: 12 }, (_, i) => `space-${i}`);
    for (const prefix of prefixes) await add(await opened(servers[1]!.url, prefix), { id: prefix });
    const sizes = await Promise.all(servers.map((server) => server.do('dbsize')));
    for (const size of sizes) expect(size).toBeGreaterThan(0);
    for (const prefix of prefixes) expect((await all(await opened(servers[2]!.url, prefix))).map(({ id }) => id)).toEqual([prefix]);
  });

  it('asks the next node where the first one is not there', async () => {
    const hosts = ['127.0.0.1:1', ...servers.map(({ port }) => `127.0.0.1:${port}`)];
    const adapter = await opened(`redis://${hosts.join(',')}`, 'seeds');
    await add(adapter);
    expect(await take(adapter)).toHaveLength(1);
  });

  it('follows the namespace to another node', async () => {
    const adapter = await opened(servers[0]!.url, 'moving');
    const slot = Number(await servers[0]!.do('cluster', 'keyslot', '{moving}:fmt'));
    const ids = await Promise.all(servers.map((server) => server.do('cluster', 'myid')));
    const owners = await Promise.all(
      servers.map((server) =>
        server.do('exists', '{moving}:fmt').then(
          () => true,
          () => false,
        ),
      ),
    );
    const from = owners.indexOf(true);
    const to = (from + 1) % MASTERS;
    await add(adapter, { id: 'before' });
    const [running] = await take(adapter);
    await add(adapter, { id: 'waiting' });
    await servers[to]!.do('cluster', 'setslot', slot, 'importing', String(ids[from]));
    await servers[from]!.do('cluster', 'setslot', slot, 'migrating', String(ids[to]));
    for (;;) {
      const keys = (await servers[from]!.do('cluster', 'getkeysinslot', slot, 100)) as string[];
      if (keys.length === 0) break;
      await servers[from]!.do('migrate', '127.0.0.1', servers[to]!.port, '', 0, 5000, 'KEYS', ...keys);
    }
    for (const server of servers) await server.do('cluster', 'setslot', slot, 'node', String(ids[to]));
    await eventually(async () => expect((await all(adapter)).map(({ id }) => id)).toEqual(['before', 'waiting']));
    await eventually(() => expect(adapter.health().writable).toBe(true));
    await adapter.ack(running!);
    expect((await take(adapter)).map(({ id }) => id)).toEqual(['waiting']);
  });
});
