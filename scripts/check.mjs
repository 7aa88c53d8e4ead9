// npm run check: what must hold before a commit. Every step runs, two at a time, the longest first, and says its time.
// `-- --static` leaves out the unit tests, for who has just run them.
import { ensure } from './ensure.mjs';
import { jest } from './run-jest.mjs';
import { report, step } from './run.mjs';

const AT_ONCE = 2;

const script = (name) => () => step(name, 'npm', ['run', '--silent', name], { quiet: true });

const waiting = [
  ...(process.argv.includes('--static') ? [] : [() => jest('unit', { as: 'check-unit', quiet: true })]),
  script('lint'),
  script('types'),
  script('arrows'),
  script('deadcode'),
  script('format:check'),
];

await ensure();
const started = performance.now();
const failed = [];

async function lane() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const result = await next();
    report(result);
    if (!result.ok) failed.push(result.name);
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, lane));
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(failed.length === 0 ? `check passed in ${seconds} s` : `check failed in ${seconds} s: ${failed.join(', ')}`);
process.exit(failed.length === 0 ? 0 : 1);
