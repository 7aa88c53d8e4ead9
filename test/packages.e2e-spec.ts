import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { renameSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith } from './harness/index.js';
import { InstalledApp, missingTargets } from './harness/installed-app.js';
import { REDIS, RedisFixture } from './harness/redis.js';

const app = new InstalledApp();

/** Sends a mail in one process and looks for its job in another. */
async function sendAndShow(env: Record<string, string>): Promise<void> {
  const sent = lastLine(await app.run(['send', 'ada@example.org'], env)) as { id: string };
  expect(sent).toMatchObject({
    type: 'mail.send',
    state: 'done',
    starts: 1,
    result: { messageId: '<ada%40example.org@mail.example.org>' },
  });
  expect(lastLine(await app.run(['show', sent.id], env))).toEqual(sent);
}

/** What the application says; Nest may have warned before. */
function lastLine(output: string): unknown {
  return JSON.parse(output.trimEnd().split('\n').at(-1)!);
}

beforeAll(async () => {
  await app.install(['storage', 'queue', 'health'], 'examples/nest-app');
  await app.build();
});
afterAll(() => app.remove());

describe('the packages, installed from their tarballs', () => {
  it.each(['storage', 'queue', 'health'])('hold what they promise, and nothing of the workspace: %s', (name) => {
    const packed = app.packages.find((candidate) => candidate.name === `@orchd/${name}`)!;
    expect(missingTargets(packed)).toEqual([]);
    expect(packed.files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts']));
    expect(packed.files.filter((file) => /[.](spec|fixture|tsbuildinfo)|^src[/]|^test[/]/.test(file))).toEqual([]);
    expect(packed.manifest.peerDependencies?.['@nestjs/common']).toBe('^11.0.0 || ^12.0.0');
    for (const range of Object.values(packed.manifest.dependencies ?? {})) expect(range).toMatch(/^\^\d/);
  });

  it('carry an application on the log, over a restart', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'orchd-data-'));
    try {
      await sendAndShow({ ORCHD_STORAGE: 'wal', ORCHD_DATA_DIR: dataDir });
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });
});

describeWith([REDIS], 'the same application with another configuration', () => {
  const redis = new RedisFixture();

  const env = () => ({ ORCHD_STORAGE: 'redis', ORCHD_REDIS_URL: redis.server.url });

  it('has its jobs in Redis', () => sendAndShow(env()));

  it('waits for a Redis that is not there yet', async () => {
    await redis.server.kill();
    const nothing = createServer().listen(redis.server.port, '127.0.0.1');
    const done = sendAndShow(env());
    const [socket] = (await Promise.race([once(nothing, 'connection'), done])) as [Socket];
    nothing.close();
    socket.destroy();
    await once(nothing, 'close');
    await redis.server.begin();
    await done;
  });

  it('is told the name of the client that it has not installed', async () => {
    const client = join(app.folder, 'node_modules/ioredis');
    renameSync(client, `${client}-not`);
    try {
      await expect(app.run(['show', 'x'], env())).rejects.toThrow('npm install ioredis');
    } finally {
      renameSync(`${client}-not`, client);
    }
  });
});
