import { existsSync, readFileSync } from 'node:fs';
import { IsolateFixture } from './isolate.fixture.js';

/** A module that writes its process id where the test finds it, first of all. */
const TELL = (file: string): string =>
  `import { writeFileSync } from 'node:fs'; const tell = (pid = process.pid) => writeFileSync(${JSON.stringify(file)}, String(pid));`;

describe('A handler in a process', () => {
  let fixture: IsolateFixture;
  beforeEach(async () => {
    fixture = await IsolateFixture.create({ heartbeatTimeoutMs: 200 }, 'process');
  });
  afterEach(() => fixture.close());

  /** The process id that a handler has written. */
  async function told(name: string): Promise<number> {
    const file = fixture.file(name);
    await fixture.until(
      () => existsSync(file) && readFileSync(file, 'utf8') !== '',
      () => `${name} to be told`,
    );
    return Number(readFileSync(file, 'utf8'));
  }

  async function gone(pid: number): Promise<void> {
    await fixture.until(
      () => !isAlive(pid),
      () => `process ${pid} to be gone`,
    );
  }

  it('that is killed in the middle loses its job at once, and the job is done by another (H06)', async () => {
    const file = fixture.file('pid');
    fixture.handler(
      'victim',
      `${TELL(file)} import { existsSync } from 'node:fs';
       export const handle = () => { if (existsSync(${JSON.stringify(file)})) return 'done'; tell(); for (;;); }`,
      { heartbeatTimeoutMs: 600_000 },
    );
    const id = await fixture.enqueue('victim');
    process.kill(await told('pid'), 'SIGKILL');
    expect(await fixture.done(id)).toMatchObject({ attempts: 1, requeues: 0, starts: 2 });
    expect((await fixture.storage.get(id))!.error).toMatchObject({ code: 'crashed', message: 'the process was killed by SIGKILL' });
  });

  it('that kills itself each time is dead after its attempts (C09)', async () => {
    fixture.handler('suicide', `export const handle = () => { process.kill(process.pid, 'SIGKILL'); for (;;); }`);
    const job = await fixture.dead(await fixture.enqueue('suicide', { maxAttempts: 3 }));
    expect(job).toMatchObject({ attempts: 3, error: { code: 'crashed' } });
    expect(fixture.pool.snapshot().workers).toMatchObject({ healthy: 16, busy: 0, zombies: 0, replaced: 3 });
  });

  it('that stands still is found and really ended; its coming back changes nothing (B09)', async () => {
    const file = fixture.file('pid');
    fixture.handler(
      'frozen',
      `${TELL(file)} import { existsSync } from 'node:fs';
       export const handle = (job, ctx) => { if (existsSync(${JSON.stringify(file)})) return 'second';
         tell(); return new Promise((resolve) => { setInterval(() => ctx.heartbeat(), 5); setTimeout(resolve, 100, 'first') }) }`,
    );
    const id = await fixture.enqueue('frozen');
    const pid = await told('pid');
    process.kill(pid, 'SIGSTOP');
    expect(await fixture.done(id)).toMatchObject({ requeues: 1, result: '"second"' });
    await gone(pid);
    expect(fixture.pool.snapshot().workers).toMatchObject({ configured: 16, healthy: 16, busy: 0, zombies: 0, replaced: 1 });
  });

  it.each([
    ['hangs', `for (;;);`],
    ['dies', `setTimeout(() => process.exit(1), 50); return new Promise(() => {})`],
  ])('that %s leaves nothing of what it has started (H13)', async (_title, deed) => {
    const file = fixture.file('grandchild');
    fixture.handler(
      'parent',
      `${TELL(file)} import { spawn } from 'node:child_process';
       export const handle = () => { tell(spawn('sleep', ['600'], { stdio: 'ignore' }).pid); ${deed} }`,
    );
    const id = await fixture.enqueue('parent', { maxRequeues: 0, maxAttempts: 1 });
    const pid = await told('grandchild');
    await fixture.dead(id);
    await gone(pid);
  });

  it('that swallows SIGTERM is ended all the same (H16)', async () => {
    const file = fixture.file('pid');
    fixture.handler(
      'stubborn',
      `${TELL(file)} process.on('SIGTERM', () => {});
       export const handle = (job, ctx) => { tell(); ctx.signal.addEventListener('abort', () => {}); return new Promise(() => setInterval(() => ctx.heartbeat(), 10)) }`,
    );
    const id = await fixture.enqueue('stubborn', { timeoutMs: 400, maxAttempts: 1 });
    const pid = await told('pid');
    process.kill(pid, 'SIGTERM');
    expect(await fixture.dead(id)).toMatchObject({ error: { code: 'timeout' } });
    await gone(pid);
  });

  it.each([
    ['words', `'is the port open?\\n{"kind":\\n'`],
    ['bytes', `Buffer.from([0xff, 0x00, 0x0a, 0xfe, 0x0a])`],
    ['many, without an end', `'x'.repeat(65_536)`],
  ])('that writes %s into the pipe to its pool disturbs nobody (H17)', async (_title, garbage) => {
    fixture.handler('scribbler', `import { writeSync } from 'node:fs'; export const handle = () => { writeSync(3, ${garbage}); return 1 }`);
    fixture.handler('good', `export const handle = () => 'fine'`);
    expect(await fixture.done(await fixture.enqueue('scribbler', { maxRequeues: 0 }))).toMatchObject({ starts: 1, result: '1' });
    await fixture.done(await fixture.enqueue('good'));
  });

  it('that closes the pipe to its pool is ended', async () => {
    fixture.handler(
      'mute',
      `import { closeSync } from 'node:fs'; export const handle = () => { closeSync(3); return new Promise(() => {}) }`,
    );
    expect(await fixture.dead(await fixture.enqueue('mute', { maxRequeues: 0 }))).toMatchObject({ error: { code: 'hung' } });
  });

  it('stops with the pool, idle or not', async () => {
    fixture.handler('idle', `export const handle = () => process.pid`);
    const { result } = await fixture.done(await fixture.enqueue('idle'));
    expect(isAlive(Number(result))).toBe(true);
    await fixture.pool.stop();
    expect(isAlive(Number(result))).toBe(false);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A process that was ended, and whose parent has not looked, is still listed.
  return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
}
