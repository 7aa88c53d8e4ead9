#!/usr/bin/env node
import { EXIT } from './report.js';
import { run } from './run.js';
import { realWorld } from './world.js';

const interrupt = new AbortController();
// Once each: a second signal ends the process at once, as signals do.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort());

try {
  const { stdout, stderr } = process;
  process.exitCode = await run(process.argv.slice(2), { stdout, stderr, interrupt: interrupt.signal, world: realWorld });
} catch (error) {
  process.stderr.write(`loadgen: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = EXIT.internal;
}
