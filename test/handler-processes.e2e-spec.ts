import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, ServiceFixture, type ServiceProcess } from './harness/index.js';
import { JobClient } from './harness/job-client.js';

const orchd = new ServiceFixture();

/** A service with a handler that writes its process id, logs a line, and then does this. */
async function started(deed: string, ...flags: string[]): Promise<{ service: ServiceProcess; pidFile: string; dataDir: string }> {
  const handlers = orchd.folder();
  const dataDir = orchd.folder();
  const pidFile = join(orchd.folder(), 'pid');
  writeFileSync(
    join(handlers, 'loop.mjs'),
    `import { writeFileSync } from 'node:fs';
     export const type = 'loop';
     export const options = { runIn: 'process', heartbeatTimeoutMs: 600_000 };
     export function handle(job, ctx) { ctx.log('begun by ' + ctx.attempt); writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); ${deed} }`,
  );
  const service = await orchd.start({ dataDir, flags: ['--handlers', handlers, ...flags] });
  return { service, pidFile, dataDir };
}

async function pidIn(file: string): Promise<number> {
  await eventually('the handler to begin', () => existsSync(file) && readFileSync(file, 'utf8') !== '');
  return Number(readFileSync(file, 'utf8'));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

describe('A handler in a process of its own', () => {
  it('does not outlive a service that is killed, though it loops and hears of nothing', async () => {
    const { service, pidFile } = await started('for (;;);');
    await new JobClient(service).accepted({ type: 'loop' });
    const pid = await pidIn(pidFile);
    await service.kill();
    await eventually('the handler to be gone', () => !isAlive(pid));
  });

  it('is gone when the service has stopped, and its job is given back', async () => {
    const { service, pidFile, dataDir } = await started('for (;;);', '--shutdown-grace-ms', '50');
    const id = await new JobClient(service).accepted({ type: 'loop' });
    const pid = await pidIn(pidFile);
    expect(await service.stop()).toMatchObject({ code: 0 });
    expect(isAlive(pid)).toBe(false);
    const after = new JobClient(await orchd.start({ dataDir, flags: ['--role', 'api'] }));
    expect(await after.get(id)).toMatchObject({ state: 'ready', attempts: 0, releases: 1 });
  });

  it('that dies leaves its last lines, which survive a kill -9 of the service', async () => {
    const { service, dataDir } = await started(`process.kill(process.pid, 'SIGKILL'); for (;;);`);
    const id = await new JobClient(service).accepted({ type: 'loop', max_attempts: 2 });
    const log = ['begun by 1', 'begun by 2'];
    expect(await new JobClient(service).reached(id, 'dead')).toMatchObject({ attempts: 2, error: { code: 'crashed' }, log });
    await service.kill();
    const after = new JobClient(await orchd.start({ dataDir, flags: ['--role', 'api'] }));
    expect(await after.get(id)).toMatchObject({ state: 'dead', log });
  });
});
