// npm test: everything, from a fresh clone. Numbers for CI land in reports/.
import { ensure } from './ensure.mjs';
import { provideRedis } from './provide-redis.mjs';
import { jest } from './run-jest.mjs';
import { report } from './run.mjs';

await ensure();
await provideRedis();
let ok = true;
for (const suite of ['unit', 'e2e']) {
  const result = await jest(suite);
  report(result);
  ok &&= result.ok;
}
process.exit(ok ? 0 : 1);
