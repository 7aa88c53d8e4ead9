// Prints the closing line of CI: the numbers of all suites that `npm test` ran.
// Its argument is the number of CI's commands that failed: a failure that no test shows is counted as one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

const failedCommands = Number(process.argv[2]);
const total = { passed: 0, failed: 0, skipped: 0 };

for (const suite of ['unit', 'e2e']) {
  try {
    const result = JSON.parse(readFileSync(join(root, `reports/${suite}.json`), 'utf8'));
    total.passed += result.numPassedTests;
    total.failed += result.numFailedTests + result.numRuntimeErrorTestSuites;
    total.skipped += result.numPendingTests + result.numTodoTests;
  } catch {
    console.log(`${suite}: no result, the run ended before it`);
    total.failed += 1;
  }
}
if (failedCommands > 0 && total.failed === 0) total.failed = 1;
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed === 0 ? 0 : 1);
