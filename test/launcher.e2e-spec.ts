import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const DIST = join(import.meta.dirname, '../apps/orchd/dist');

/** Stands in for the compiled app: uses libuv's pool and tells how many threads the process then has. */
const PROBE = `
import { pbkdf2 } from 'node:crypto';
import { readdirSync } from 'node:fs';
pbkdf2('', '', 1, 1, 'sha256', () => console.log(readdirSync('/proc/self/task').length));
`;

const onLinux = existsSync('/proc/self/task') ? describe : describe.skip;

onLinux('the launcher', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orchd-launcher-'));
    for (const file of ['main.js', 'package.json', 'app/package.json']) await cp(join(DIST, file), join(folder, file));
    await writeFile(join(folder, 'app/main.js'), PROBE);
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function threads(setting: { UV_THREADPOOL_SIZE?: string }): Promise<number> {
    const { UV_THREADPOOL_SIZE: _inherited, ...env } = process.env;
    const { stdout } = await run(process.execPath, [join(folder, 'main.js')], { env: { ...env, ...setting } });
    return Number(stdout);
  }

  it('gives libuv 16 threads, so that crypto does not keep fdatasync waiting', async () => {
    expect((await threads({})) - (await threads({ UV_THREADPOOL_SIZE: '4' }))).toBe(12);
  });

  it('leaves a pool size that the environment sets alone', async () => {
    expect((await threads({ UV_THREADPOOL_SIZE: '20' })) - (await threads({ UV_THREADPOOL_SIZE: '4' }))).toBe(16);
  });
});
