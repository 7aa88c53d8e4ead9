import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { systemClock } from '../../../contract/clock.js';
import { codeOf, numbered } from './log.fixture.js';
import { nodeFileSystem } from './node-file-system.js';
import { WriteAheadLog } from './write-ahead-log.js';

/** Takes the lock with the same system call, says so, and holds it until it is killed. */
const HOLDER = `
  const fs = require('node:fs');
  const { tryLock } = require('fs-native-extensions');
  if (tryLock(fs.openSync(process.argv[1], 'r+'))) console.log('locked');
  setInterval(() => {}, 1000);
`;

describe('the log on a real file system', () => {
  let parent: string;
  let dir: string;

  beforeEach(() => {
    parent = fs.mkdtempSync(path.join(os.tmpdir(), 'orchd-log-'));
    dir = path.join(parent, 'data', 'wal');
  });

  afterEach(() => fs.rmSync(parent, { recursive: true, force: true }));

  async function open(records: string[] = []): Promise<WriteAheadLog> {
    return WriteAheadLog.open(
      {
        dir,
        fs: nodeFileSystem,
        clock: systemClock,
        fsync: 'always',
        segmentBytes: 64 * 1024,
        preamble: () => '',
        onStateChange: () => undefined,
        warn: () => undefined,
      },
      { records: (lines) => void records.push(...lines) },
    );
  }

  it('keeps what was appended, over segments and openings', async () => {
    for (const boot of [1, 2, 3]) {
      const log = await open();
      await Promise.all(numbered(500, 300, `boot ${boot}`).map((record) => log.append(`${record}\n`).durable()));
      await log.removeOldest(log.stats().oldestSegment);
      await log.close();
    }
    const records: string[] = [];
    const log = await open(records);
    expect(log.boot).toBe(4);
    expect(records.slice(-500)).toEqual(numbered(500, 300, 'boot 3'));
    expect(log.stats().fsyncP50Ms).toBeGreaterThan(0);
    await log.close();
  });

  it('is nobody else’s to read', async () => {
    const log = await open();
    expect(fs.statSync(dir).mode & 0o777).toBe(0o700);
    for (const name of fs.readdirSync(dir)) expect([name, fs.statSync(path.join(dir, name)).mode & 0o777]).toEqual([name, 0o600]);
    await log.close();
  });

  it('writes only into space that was written before', async () => {
    const log = await open();
    const current = path.join(dir, 'wal-0000000001.log');
    const { size, blocks } = fs.statSync(current);
    await log.append(`${'x'.repeat(20_000)}\n`).durable();
    expect(fs.statSync(current)).toMatchObject({ size, blocks });
    await log.close();
  });

  it('is refused to a second opening in this process', async () => {
    const log = await open();
    expect(await codeOf(open())).toBe('storage_locked');
    await log.append('x\n').durable();
    await log.close();
    await (await open()).close();
  });

  it('is refused while another process holds it, and free as soon as that one is killed', async () => {
    await (await open()).close();
    const holder = spawn(process.execPath, ['-e', HOLDER, path.join(dir, 'LOCK')], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(holder.stdout, 'data');
      const before = fs.readdirSync(dir).map((name) => [name, fs.readFileSync(path.join(dir, name)).toString('base64')]);
      expect(await codeOf(open())).toBe('storage_locked');
      expect(fs.readdirSync(dir).map((name) => [name, fs.readFileSync(path.join(dir, name)).toString('base64')])).toEqual(before);
    } finally {
      holder.kill('SIGKILL');
      await once(holder, 'exit');
    }
    await (await open()).close();
  });

  it('does not take a pid in LOCK for a lock', async () => {
    await (await open()).close();
    fs.writeFileSync(path.join(dir, 'LOCK'), `boot 1 pid ${process.pid}`.padEnd(63) + '\n');
    await (await open()).close();
  });

  it('cannot be where there is a file', async () => {
    fs.writeFileSync(path.join(parent, 'data'), 'not a folder');
    expect(await codeOf(open())).toBe('storage_unavailable');
  });

  it('reads zeroes of a sparse tail as the end, however long', async () => {
    const log = await open();
    await log.append('x\n').durable();
    await log.close();
    fs.truncateSync(path.join(dir, 'wal-0000000001.log'), 32 * 2 ** 20);
    const records: string[] = [];
    await (await open(records)).close();
    expect(records).toEqual(['x']);
  });

  it('refuses a file longer than any segment without reading it', async () => {
    await (await open()).close();
    fs.truncateSync(path.join(dir, 'wal-0000000001.log'), 8 * 2 ** 30);
    expect(await codeOf(open())).toBe('storage_unavailable');
  });
});

describe('nodeFileSystem', () => {
  let dir: string;

  beforeEach(() => (dir = fs.mkdtempSync(path.join(os.tmpdir(), 'orchd-fs-'))));
  afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

  it('does not replace a file by link or create', async () => {
    const [one, two] = [path.join(dir, 'one'), path.join(dir, 'two')];
    for (const name of [one, two]) await (await nodeFileSystem.open(name, 'create')).close();
    await expect(nodeFileSystem.link(one, two)).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(nodeFileSystem.open(one, 'create')).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(nodeFileSystem.open(path.join(dir, 'three'), 'write')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('reads up to the end of the file and says how much', async () => {
    const file = await nodeFileSystem.open(path.join(dir, 'file'), 'create');
    await file.write(Buffer.from('0123456789'), 10, 0);
    const into = Buffer.alloc(8);
    expect(await file.read(into, 6)).toBe(4);
    expect(into.toString('latin1', 0, 4)).toBe('6789');
    await file.truncate(3);
    expect(await file.size()).toBe(3);
    expect(file.timeSync()).toBeGreaterThan(0);
    await file.close();
  });

  it('knows how much space is left', async () => {
    expect(await nodeFileSystem.freeBytes(dir)).toBeGreaterThan(0);
  });
});
