import { describe, expect, it } from '@jest/globals';
import { chmodSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { JobClient, ServiceFixture, type ServiceProcess } from './harness/index.js';

const IS_ROOT = process.getuid?.() === 0;
const NOBODY = 65_534;

const orchd = new ServiceFixture();

/** Every byte and name of a folder, and when each file was last written. */
function contents(folder: string): unknown {
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const { size, mtimeMs, mode } = statSync(join(folder, name));
      return {
        name,
        size,
        mtimeMs,
        mode,
        sha256: createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex'),
      };
    });
}

async function expectRefusal(service: ServiceProcess, code: number): Promise<string[]> {
  expect(await service.exited).toEqual({ code, signal: null });
  expect(service.stderr).not.toMatch(/\n\s+at /);
  return service.stderr.trimEnd().split('\n');
}

describe('--help and --version', () => {
  it('print to stdout and exit 0', async () => {
    const help = orchd.launchBare({ flags: ['--help'] });
    expect(await help.exited).toEqual({ code: 0, signal: null });
    expect(help.stdout).toContain('--hb-timeout-ms MS');
    const version = orchd.launchBare({ flags: ['--version'] });
    expect(await version.exited).toEqual({ code: 0, signal: null });
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('bad settings', () => {
  it('are all told, one a line with flag and variable, and exit 78 with nothing made', async () => {
    const cwd = orchd.folder();
    const service = orchd.launchBare({ flags: ['--port', '1e3', '--wrong', '--fsync=maybe'], env: { ORCHD_WORKERS: '0' }, cwd });
    const lines = await expectRefusal(service, 78);
    expect(lines).toHaveLength(4);
    for (const name of ['--port (ORCHD_PORT)', '--wrong', '--fsync (ORCHD_FSYNC)', '--workers (ORCHD_WORKERS)']) {
      expect(lines).toContainEqual(expect.stringContaining(name));
    }
    expect(service.stdout).toBe('');
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('include a host that is not of this machine, for which no folder is made', async () => {
    const parent = orchd.folder();
    const service = orchd.launch({ flags: ['--host', '203.0.113.1'], dataDir: join(parent, 'a/b') });
    expect(await expectRefusal(service, 78)).toEqual([expect.stringContaining('203.0.113.1')]);
    expect(readdirSync(parent)).toEqual([]);
  });
});

describe('a start', () => {
  it('logs one line with version, address, storage, durability and workers', async () => {
    const service = await orchd.start({ flags: ['--workers', '3'] });
    const line = await service.logged(({ msg }) => msg.includes('is ready'));
    expect(line).toMatchObject({
      level: 'info',
      version: expect.stringMatching(/^\d/),
      url: service.url,
      storage: 'wal',
      durability: 'fsync',
      workers: 'default:3',
    });
  });

  it('makes the data folder, for its owner only', async () => {
    const dataDir = join(orchd.folder(), 'a/b');
    await orchd.start({ dataDir });
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  });

  it('takes its settings from the environment, flags first', async () => {
    const service = await orchd.start({
      flags: ['--workers', '2'],
      env: { ORCHD_WORKERS: '7', ORCHD_STORAGE: 'redis' },
      storage: 'memory',
    });
    const { workers, storage } = await new JobClient(service).stats();
    expect(workers).toMatchObject({ configured: 2 });
    expect(storage).toMatchObject({ kind: 'memory' });
  });
});

describe('a folder that another process has', () => {
  it('is left as it is, to the byte: exit 75 and one line', async () => {
    const dataDir = orchd.folder();
    const first = await orchd.start({ dataDir, flags: ['--hb-timeout-ms', '60000'] });
    const jobs = new JobClient(first);
    const id = await jobs.accepted({ hang_prob: 1 });
    const running = await jobs.reached(id, 'active');
    // The log marks its first idle moment; a folder is only quiet after that.
    const quiet = await settled(dataDir);

    const second = orchd.launch({ dataDir });
    expect(await expectRefusal(second, 75)).toEqual([expect.stringContaining(dataDir)]);
    expect(contents(dataDir)).toEqual(quiet);
    expect(await jobs.get(id)).toEqual(running);
  });
});

describe('a port that is in use', () => {
  it('is exit 75 and one line, and nobody is requeued', async () => {
    const dataDir = orchd.folder();
    const first = await orchd.start({ dataDir, flags: ['--hb-timeout-ms', '60000'] });
    const id = await new JobClient(first).accepted({ hang_prob: 1 });
    await new JobClient(first).reached(id, 'active');
    await first.kill();
    const left = contents(dataDir);

    const occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const { port } = occupant.address() as AddressInfo;
    const second = orchd.launch({ dataDir, port });
    expect(await expectRefusal(second, 75)).toEqual([expect.stringContaining(`127.0.0.1:${port}`)]);
    expect(contents(dataDir)).toEqual(left);
    occupant.close();
  });
});

describe('a folder that cannot be used', () => {
  it('because it is a file is exit 74 before anything listens', async () => {
    const file = join(orchd.folder(), 'file');
    writeFileSync(file, 'mine');
    for (const dataDir of [file, join(file, 'below')]) {
      const service = orchd.launch({ dataDir });
      expect(await expectRefusal(service, 74)).toEqual([expect.stringContaining(dataDir)]);
      expect(service.stdout).toBe('');
    }
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  it('because its mode forbids it is exit 74 before anything listens', async () => {
    const dataDir = orchd.folder();
    chmodSync(dataDir, IS_ROOT ? 0o700 : 0o000);
    // Root may do everything, so there the service runs as somebody else.
    const service = orchd.launch({ dataDir, ...(IS_ROOT && { uid: NOBODY }) });
    expect(await expectRefusal(service, 74)).toEqual([expect.stringContaining('permission denied')]);
    expect(service.stdout).toBe('');
  });
});

/** Resolves with the contents of the folder when two looks at it are the same. */
async function settled(folder: string): Promise<unknown> {
  let before = JSON.stringify(contents(folder));
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    const now = JSON.stringify(contents(folder));
    if (now === before) return JSON.parse(now);
    before = now;
  }
}
