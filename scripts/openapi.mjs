// Writes docs/openapi.json: what the built service serves at /openapi.json. An end to end test fails while the two differ.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { format, resolveConfig } from 'prettier';
import { root } from './run.mjs';

const file = join(root, 'docs/openapi.json');
const service = spawn(process.execPath, ['apps/orchd/dist/main.js', '--storage', 'memory', '--port', '0'], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  for await (const line of createInterface({ input: service.stdout })) {
    const { url } = JSON.parse(line);
    if (url === undefined) continue;
    const document = await (await fetch(`${url}/openapi.json`)).text();
    writeFileSync(file, await format(document, { ...(await resolveConfig(file)), parser: 'json' }));
    break;
  }
} finally {
  service.kill();
  await once(service, 'exit');
}
