// npm run bench -- rivals [--quick] [--repeats N] [--only enqueue,no-op,memory,idle]: orchd on Redis beside BullMQ on the same Redis, taking
// turns, each measurement in a process of its own.
import { workFolder } from './lib/folders.mjs';
import { readOptions } from './lib/options.mjs';
import { runScript } from './lib/processes.mjs';
import { Report } from './lib/report.mjs';
import { enqueueRates, idleCommands, memoryPerJob, noOpRates } from './rivals/parts.mjs';

const PARTS = { enqueue: enqueueRates, 'no-op': noOpRates, memory: memoryPerJob, idle: idleCommands };

const { quick, repeats, parts } = readOptions(Object.keys(PARTS));
const work = workFolder();
const report = new Report('rivals', 'orchd and BullMQ on one Redis', work);
const progress = (what) => process.stderr.write(`${what}\n`);
const child = (measurement, args) => runScript('rivals-child.mjs', [measurement, JSON.stringify(args)]);

for (const part of parts) {
  try {
    report.add(await PARTS[part]({ work, repeats, quick, child, progress }));
  } catch (error) {
    report.addFailure(part, error);
  }
}
report.finish({ keep: !quick && parts.length === Object.keys(PARTS).length });
