// npm run bench -- log [--quick] [--repeats N] [--only growth,cleaner,post,backlog,replay,steps,storm]: what the log does over time and at
// scale, beside its targets. Every measurement runs in a process of its own.
import { backlog } from './in-process/backlog.mjs';
import { waitingJobs } from './in-process/waiting-jobs.mjs';
import { workFolder } from './lib/folders.mjs';
import { readOptions } from './lib/options.mjs';
import { runScript } from './lib/processes.mjs';
import { Report } from './lib/report.mjs';
import { cost, growth } from './log/churn.mjs';
import { postLatency } from './log/post-latency.mjs';
import { retryStorm } from './log/retry-storm.mjs';
import { steps } from './log/steps.mjs';

const childOf =
  (script) =>
  (measurement, args, nodeFlags = []) =>
    runScript(script, [measurement, JSON.stringify(args)], nodeFlags);
const own = childOf('log-child.mjs');
const inProcess = childOf('in-process-child.mjs');
const PARTS = {
  growth: [growth, own],
  cleaner: [cost, own],
  post: [postLatency, own],
  backlog: [backlog, inProcess],
  replay: [waitingJobs, inProcess],
  steps: [steps, own],
  storm: [retryStorm, own],
};

const { quick, repeats, parts } = readOptions(Object.keys(PARTS));
const work = workFolder();
const report = new Report('log', 'The log over time and at scale', work);
const progress = (what) => process.stderr.write(`${what}\n`);

for (const name of parts) {
  const [part, child] = PARTS[name];
  try {
    report.add(await part({ work, repeats, quick, child, progress }));
  } catch (error) {
    report.addFailure(name, error);
  }
}
report.finish({ keep: !quick && parts.length === Object.keys(PARTS).length });
