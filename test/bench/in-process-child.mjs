// node in-process-child.mjs MEASUREMENT JSON: one measurement in a process of its own, so that none inherits the heap, the compiled code or
// the open files of another. Prints its result as one JSON line.
import * as backlog from './in-process/backlog.mjs';
import * as groupCommit from './in-process/group-commit.mjs';
import * as latency from './in-process/latency.mjs';
import * as noOpJobs from './in-process/no-op-jobs.mjs';
import * as waitingJobs from './in-process/waiting-jobs.mjs';

const MEASUREMENTS = {
  'group-commit': groupCommit.measure,
  'no-op-jobs': noOpJobs.measure,
  latency: latency.measure,
  fill: waitingJobs.fill,
  replay: waitingJobs.replay,
  backlog: backlog.measure,
};

const [measurement, args] = process.argv.slice(2);
const result = await MEASUREMENTS[measurement](JSON.parse(args));
console.log(JSON.stringify(result));
