// Runs one step as a child process and says in one line how it went.
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the workspace; every step runs there, wherever it was typed. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 };
/** Once it is told to stop, no step is begun any more. */
let stoppedBy = null;

/** A step that runs longer hangs: it is ended, its children too, and has failed. */
const HANG_LIMIT_MS = 15 * 60_000;

/**
 * Resolves with `{ name, ok, seconds, output }` when the step has ended; never rejects. Ends this process after a step that a signal ended.
 * `quiet` keeps what the step prints for `output`, otherwise it goes to the terminal.
 */
export function step(name, command, args, { quiet = false, env = {}, hangLimitMs = HANG_LIMIT_MS } = {}) {
  const started = performance.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
      detached: true,
    });
    const chunks = [];
    child.stdout?.on('data', (chunk) => chunks.push(chunk));
    child.stderr?.on('data', (chunk) => chunks.push(chunk));

    const end = (signal) => {
      try {
        process.kill(-child.pid, signal);
      } catch {
        // The group is gone: that is what was wanted.
      }
    };
    const forward = (signal) => {
      stoppedBy = signal;
      end(signal);
    };
    process.once('SIGINT', forward).once('SIGTERM', forward);
    const limit = setTimeout(() => {
      chunks.push(Buffer.from(`${name}: still running after ${hangLimitMs / 60_000} minutes, ended as hung\n`));
      end('SIGKILL');
    }, hangLimitMs);

    const finish = (ok) => {
      clearTimeout(limit);
      process.off('SIGINT', forward).off('SIGTERM', forward);
      if (stoppedBy) process.exit(EXIT_CODES[stoppedBy]);
      resolve({ name, ok, seconds: (performance.now() - started) / 1000, output: Buffer.concat(chunks).toString() });
    };
    child.on('error', (error) => {
      chunks.push(Buffer.from(`${error.message}\n`));
      finish(false);
    });
    child.on('close', (code) => finish(code === 0));
  });
}

/** One line per step, the output of a failed one before it. */
export function report({ name, ok, seconds, output }) {
  if (!ok && output) process.stdout.write(output.endsWith('\n') ? output : `${output}\n`);
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${name.padEnd(12)} ${seconds.toFixed(1)} s`);
}

/** Runs a step in the terminal; a failure ends this process with code 1. */
export async function run(name, command, args, options) {
  const result = await step(name, command, args, options);
  report(result);
  if (!result.ok) process.exit(1);
}
