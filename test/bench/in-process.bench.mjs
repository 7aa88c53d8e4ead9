// npm run bench -- in-process [--quick] [--repeats N] [--only enqueue,no-op,latency,waiting,backlog]: what the packages do without HTTP,
// fsync always, beside their targets. Every measurement runs in a process of its own, through the public packages.
import { backlog } from './in-process/backlog.mjs';
import { groupCommit } from './in-process/group-commit.mjs';
import { latency } from './in-process/latency.mjs';
import { noOpJobs } from './in-process/no-op-jobs.mjs';
import { waitingJobs } from './in-process/waiting-jobs.mjs';
import { workFolder } from './lib/folders.mjs';
import { readOptions } from './lib/options.mjs';
import { runScript } from './lib/processes.mjs';
import { Report } from './lib/report.mjs';

const PARTS = { enqueue: groupCommit, 'no-op': noOpJobs, latency, waiting: waitingJobs, backlog };

const { quick, repeats, parts } = readOptions(Object.keys(PARTS));
const work = workFolder();
const report = new Report('in-process', 'The packages in one process', work);
const progress = (what) => process.stderr.write(`${what}\n`);
const child = (measurement, args, nodeFlags = []) => runScript('in-process-child.mjs', [measurement, JSON.stringify(args)], nodeFlags);

for (const part of parts) {
  try {
    report.add(await PARTS[part]({ work, repeats, quick, child, progress }));
  } catch (error) {
    report.addFailure(part, error);
  }
}
report.finish({ keep: !quick && parts.length === Object.keys(PARTS).length });
