import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, JobClient, ServiceFixture } from './harness/index.js';

const EXAMPLES = join(import.meta.dirname, '../examples/handlers');
const orchd = new ServiceFixture();

function folderWith(modules: Record<string, string>): string {
  const folder = orchd.folder();
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(folder, name), text);
  return folder;
}

async function enqueue(
  client: JobClient,
  port: { post: (path: string, body: unknown) => Promise<unknown> },
  type: string,
  payload: unknown,
) {
  const { status, body } = (await port.post('/jobs', { type, payload })) as { status: number; body: { id: string } };
  expect(status).toBe(201);
  return client.reached(body.id, 'done');
}

describe('--handlers', () => {
  it('runs the example in a thread of the service', async () => {
    const service = await orchd.start({ flags: ['--handlers', EXAMPLES] });
    const job = await enqueue(new JobClient(service), service, 'text.count', { text: 'One two, two' });
    expect(job).toMatchObject({ result: { words: 3, counts: { one: 1, two: 2 } } });
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });

  it('uses the whole modules of a folder, and says in a line what is wrong with each of the others', async () => {
    const good = `export const type = 'good'; export const handle = async () => (await import('node:worker_threads')).isMainThread;`;
    const service = await orchd.start({
      flags: ['--handlers'].concat(
        folderWith({
          'a-throws.mjs': `throw new Error('no key is set');`,
          'b-exits.mjs': `process.exit(0);`,
          'c-nameless.mjs': `export const handle = () => 1;`,
          'd-syntax.mjs': `export const type = ;`,
          'e-good.mjs': good,
          'f-again.mjs': good,
          'g-options.mjs': `export const type = 'odd'; export const options = { timeoutMs: -1 }; export const handle = () => 1;`,
          'h-common.cjs': `module.exports = { type: 'common', handle: ({ payload }) => payload };`,
          'i-own.mjs': `export const type = 'cpu'; export const handle = () => 1;`,
          'j-idle.mjs': `export const type = 'idle';`,
          'k-typo.mjs': `export const type = 'typo'; export const options = { timeOutMs: 1 }; export const handle = () => 1;`,
          'l-function.mjs': `export const type = 'f'; export const options = { backoff() {} }; export const handle = () => 1;`,
          'm-bare.mjs': `throw Object.create(null);`,
          'n-word.mjs': `(await import('node:worker_threads')).parentPort.postMessage(null); export const type = 'n'; export const handle = () => 1;`,
          '_helper.mjs': `throw new Error('never loaded');`,
          'notes.txt': 'no module',
        }),
      ),
    });
    const client = new JobClient(service);
    expect(await enqueue(client, service, 'good', null)).toMatchObject({ result: false });
    expect(await enqueue(client, service, 'common', { a: 1 })).toMatchObject({ result: { a: 1 } });
    expect(await service.post('/jobs', { type: 'odd' })).toMatchObject({ status: 400, body: { fields: { type: expect.anything() } } });

    const lines = service.stdout.split('\n').filter((line) => line.includes('is not used'));
    for (const [name, reason] of [
      ['a-throws.mjs', 'no key is set'],
      ['b-exits.mjs', 'ended the thread'],
      ['c-nameless.mjs', 'exports no text `type`'],
      ['d-syntax.mjs', 'Unexpected token'],
      ['f-again.mjs', 'has a handler already'],
      ['i-own.mjs', `one of orchd's own types`],
      ['j-idle.mjs', 'exports no function `handle`'],
      ['k-typo.mjs', 'timeOutMs'],
      ['g-options.mjs', 'timeoutMs'],
      ['l-function.mjs', '`options` hold what is no plain value'],
      ['m-bare.mjs', 'it threw'],
      ['n-word.mjs', 'exports no text `type`'],
    ] as const) {
      expect(lines.filter((line) => line.includes(name) && line.includes(reason))).toHaveLength(1);
    }
    expect(lines).toHaveLength(12);
  });

  it('stops in time although a thread stands in native code, and gives its job back', async () => {
    const [folder, dataDir] = [orchd.folder(), orchd.folder()];
    const fifo = join(orchd.folder(), 'fifo');
    execFileSync('mkfifo', [fifo]);
    const body = `ctx.log('in'); readFileSync(${JSON.stringify(fifo)});`;
    const source = `import { readFileSync } from 'node:fs'; export const type = 'stuck'; export const handle = (job, ctx) => { ${body} };`;
    writeFileSync(join(folder, 'stuck.mjs'), source);
    const service = await orchd.start({ dataDir, flags: ['--handlers', folder, '--shutdown-grace-ms', '0'] });
    const client = new JobClient(service);
    const id = await client.accepted({ type: 'stuck' });
    await eventually('the job to have begun', async () => (await client.get(id)).log!.length > 0);
    expect(await service.stop()).toEqual({ code: null, signal: 'SIGKILL' });
    expect(service.log).toContainEqual(expect.objectContaining({ msg: 'stopped' }));
    const next = new JobClient(await orchd.start({ dataDir, flags: ['--role', 'api'] }));
    expect(await next.get(id)).toMatchObject({ state: 'ready', attempts: 0, requeues: 0 });
  });

  it('refuses a folder that is not there, before it listens', async () => {
    const service = orchd.launch({ flags: ['--handlers', join(orchd.folder(), 'none')] });
    expect(await service.exited).toEqual({ code: 78, signal: null });
  });
});
