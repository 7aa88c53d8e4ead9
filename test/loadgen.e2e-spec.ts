import { expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eventually, listAll, ServiceFixture, statsOf } from './harness/index.js';

const LOADGEN = join(import.meta.dirname, '../apps/loadgen/dist/main.js');
const JOBS = 1500;
const orchd = new ServiceFixture();

interface LedgerLine {
  readonly event: string;
  readonly id: string;
}

it('the load generator sees every job done, although the service is killed in the middle and comes back', async () => {
  const dataDir = orchd.folder();
  const ledger = join(orchd.folder(), 'ledger');
  const first = await orchd.start({ dataDir });
  const { port, url } = first;
  const flags = ['--url', url, '--jobs', String(JOBS), '--work-ms', '10', '--fail-prob', '0.1', '--ledger', ledger];
  const loadgen = spawn(process.execPath, [LOADGEN, ...flags], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = Promise.all([text(loadgen.stdout), once(loadgen, 'close')]);

  await eventually('a good part to be done', async () => (await statsOf(first)).done > JOBS / 5);
  await first.kill();
  const second = await orchd.start({ dataDir, port });
  const [printed, [code]] = (await ended) as [string, [number]];

  expect(code).toBe(0);
  const { done, dead } = JSON.parse(printed) as { done: number; dead: number };
  expect(done + dead).toBe(JOBS);
  const lines = readFileSync(ledger, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LedgerLine);
  const acked = new Set(lines.filter(({ event }) => event === 'acked').map(({ id }) => id));
  expect(acked.size).toBe(JOBS);
  expect((await listAll(second)).map(({ id }) => id)).toEqual([...acked].sort());
});
