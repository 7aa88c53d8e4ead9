// npm run bench -- group-commit [--quick] [--repeats N] [--only 1,32,256]: durable appends a second of the log alone (fsync always), by the
// number of callers, beside the bare loop that it can at best be as fast as. In turn, in one process, on the same disk.
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { nodeFileSystem } from '../../libs/storage/dist/adapters/wal/log/node-file-system.js';
import { WriteAheadLog } from '../../libs/storage/dist/adapters/wal/log/write-ahead-log.js';
import { systemClock } from '../../libs/storage/dist/contract/clock.js';
import { BareLog } from './lib/bare-log.mjs';
import { freshFolder, workFolder } from './lib/folders.mjs';
import { withInterval } from './lib/format.mjs';
import { inTurn } from './lib/in-turn.mjs';
import { readOptions } from './lib/options.mjs';
import { Report } from './lib/report.mjs';
import { mean } from './lib/statistics.mjs';
import { atLeast } from './lib/targets.mjs';

const CALLERS = ['1', '32', '256'];
const ROUND_MS = 1500;
const SEGMENT_BYTES = 16 * 2 ** 20;
/** A log that costs much more than the loop it consists of has a fault. */
const RATIO = 0.8;

const { quick, repeats, parts } = readOptions(CALLERS);
const roundMs = quick ? ROUND_MS / 5 : ROUND_MS;
const work = workFolder();

let serial = 0;
/** About 250 bytes, as an enqueue has. */
function record() {
  const job = {
    v: 1,
    t: 'enqueue',
    id: `0190a5d4-7e1b-7c3a-9f00-${String(serial++).padStart(12, '0')}`,
    queue: 'default',
    type: 'simulated',
  };
  return `${JSON.stringify({ ...job, priority: 5, at: Date.now(), payload: { work_ms: 20, fail_prob: 0.2, note: 'x'.repeat(70) } })}\n`;
}

async function openLog(dir) {
  const options = { fsync: 'always', segmentBytes: SEGMENT_BYTES, preamble: () => '', onStateChange: () => {}, warn: console.warn };
  const log = await WriteAheadLog.open({ dir, fs: nodeFileSystem, clock: systemClock, ...options }, { records: () => {} });
  return { append: (text) => log.append(text, 'enqueue').durable(), close: () => log.close() };
}

async function rate(open, callers) {
  const { folder, remove } = freshFolder(work);
  const log = await open(folder);
  let appended = 0;
  const start = performance.now();
  const caller = async () => {
    while (performance.now() - start < roundMs) {
      await log.append(record());
      appended++;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const perSecond = (appended * 1000) / (performance.now() - start);
  await log.close();
  remove();
  return Math.round(perSecond);
}

async function compare(callers) {
  const variants = {
    bare: () => rate((folder) => new BareLog(join(folder, 'bare.log')), Number(callers)),
    log: () => rate((folder) => openLog(join(folder, 'log')), Number(callers)),
  };
  await inTurn(1, variants);
  const runs = await inTurn(repeats, variants, (what) => process.stderr.write(`${callers} callers, ${what}\n`));
  return { ...runs, ratios: runs.log.map((value, i) => value / runs.bare[i]) };
}

const report = new Report('group-commit', 'The log beside the loop it consists of', work);
const runs = {};
for (const callers of parts) runs[callers] = await compare(callers);
report.add({
  title: 'Durable appends',
  about:
    'Records of about 250 bytes, fsync always, each caller awaits its own append before the next. The bare loop: JSON, crc32, one write + ' +
    'fdatasync at a time in a pre-written file. A first round warms up and is not counted.',
  columns: ['callers', 'runs', 'the log, appends/s', 'the bare loop, appends/s', 'log / bare'],
  rows: parts.map((callers) => [
    callers,
    repeats,
    withInterval(runs[callers].log, 0),
    withInterval(runs[callers].bare, 0),
    withInterval(runs[callers].ratios, 3),
  ]),
  targets: parts.map((callers) => atLeast(`${callers} callers, log / bare`, mean(runs[callers].ratios), RATIO)),
  runs,
});
report.finish({ keep: !quick && parts.length === CALLERS.length });
