import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { createLogger } from './logger.js';

const PIPE_BYTES = 64 * 1024;

describe('a log that nobody reads', () => {
  let folder: string;
  let reader: number;
  /** Belongs to the log, which closes it when it gives up. */
  let fd: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orchd-log-'));
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    // As Node opens its own pipes.
    fd = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
  });
  afterEach(() => {
    closeSync(reader);
    rmSync(folder, { recursive: true });
  });

  /** What the pipe holds, once it holds something: a write may still be on its way in a thread. */
  async function written(): Promise<string> {
    const bytes = Buffer.alloc(2 * PIPE_BYTES);
    for (;;) {
      try {
        return bytes.toString('utf8', 0, readSync(reader, bytes));
      } catch (error) {
        expect(error).toMatchObject({ code: 'EAGAIN' });
        await setImmediate();
      }
    }
  }

  it('does not keep the process from ending', async () => {
    const { log, flush } = createLogger({ isTTY: false, fd });
    for (let line = 0; line < 2000; line++) log.info({ line }, 'x'.repeat(100));
    flush();
    expect((await written()).length).toBeGreaterThan(PIPE_BYTES / 2);
  });

  it('has its last lines, where there is room for them', async () => {
    const { log, flush } = createLogger({ isTTY: false, fd });
    log.info('the last line');
    flush();
    expect(await written()).toMatch(/"msg":"the last line"}\n$/);
    closeSync(fd);
  });
});
