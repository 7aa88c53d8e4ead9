// npm run bench -- cpu [--quick] [--repeats N] [--only workers,fall,ways,hang,hop,storm]: jobs that compute, beside what openssl makes of the
// same cores in the same run; and what it costs to find a hung thread and to be rid of it.
import { fall } from './cpu/fall.mjs';
import { hang } from './cpu/hang.mjs';
import { hop } from './cpu/hop.mjs';
import { storm } from './cpu/storm.mjs';
import { ways } from './cpu/ways.mjs';
import { workers } from './cpu/workers.mjs';
import { workFolder } from './lib/folders.mjs';
import { readOptions } from './lib/options.mjs';
import { Report } from './lib/report.mjs';

const PARTS = { workers, fall, ways, hang, hop, storm };

const { quick, repeats, parts } = readOptions(Object.keys(PARTS));
const work = workFolder();
const report = new Report('cpu', 'Jobs that compute', work);
const progress = (what) => process.stderr.write(`${what}\n`);

for (const part of parts) {
  try {
    report.add(await PARTS[part]({ work, repeats, quick, progress }));
  } catch (error) {
    report.addFailure(part, error);
  }
}
report.finish({ keep: !quick && parts.length === Object.keys(PARTS).length });
