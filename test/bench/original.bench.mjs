// npm run bench -- original [--quick] [--repeats N] [--only A,B,C,durability,crash,submit]: repeats the experiments of the system that orchd
// follows, against the built service over HTTP on loopback, and prints the figures beside the original's and beside their targets.
import { workFolder } from './lib/folders.mjs';
import { readOptions } from './lib/options.mjs';
import { Report } from './lib/report.mjs';
import { crash } from './original/crash.mjs';
import { durability } from './original/durability.mjs';
import { hangs } from './original/hangs.mjs';
import { retries } from './original/retries.mjs';
import { submitRate } from './original/submit-rate.mjs';
import { throughput } from './original/throughput.mjs';

const PARTS = { A: throughput, B: retries, C: hangs, durability, crash, submit: submitRate };

const { quick, repeats, parts } = readOptions(Object.keys(PARTS));
const work = workFolder();
const report = new Report('original', "The original's experiments", work);
const progress = (what) => process.stderr.write(`${what}\n`);

for (const part of parts) {
  try {
    report.add(await PARTS[part]({ work, repeats, quick, progress }));
  } catch (error) {
    report.addFailure(part, error);
  }
}
report.finish({ keep: !quick && parts.length === Object.keys(PARTS).length });
