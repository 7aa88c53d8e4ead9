import { setTimeout } from 'node:timers/promises';
import { helpText } from './config/help-text.js';
import { readSettings } from './config/read-settings.js';
import type { Settings } from './config/settings.js';
import { VERSION } from './config/version.js';
import { EXIT, type ExitCode } from './life-cycle/exit-codes.js';
import { heedSignals } from './life-cycle/signals.js';
import { StartFailure } from './life-cycle/start-failure.js';
import { createLogger, type Logger } from './logging/logger.js';

/** A signal does not wait for the lines that are on their way. */
const LAST_LINES_MS = 100;

/** `orchd [flags]`: help, version, what is wrong with the settings, or the whole life of a service. */
export async function serviceCommand(): Promise<void> {
  const command = readSettings(process.argv.slice(2), process.env);
  switch (command.kind) {
    case 'help':
      process.stdout.write(helpText(VERSION));
      break;
    case 'version':
      process.stdout.write(`${VERSION}\n`);
      break;
    case 'problems':
      for (const problem of command.problems) process.stderr.write(`orchd: ${problem}\n`);
      process.exitCode = EXIT.badSetting;
      break;
    case 'run':
      process.exit(await serve(command.settings));
  }
}

/** Resolves with the exit code when all that was logged is written. */
async function serve(settings: Settings): Promise<ExitCode> {
  const { log, flush } = createLogger(process.stdout);
  process.on('uncaughtException', (error) => {
    // After a bug nobody knows what holds; the log on disk does, and the next process starts from it.
    log.fatal({ err: error }, 'uncaught error: the process ends now');
    flush();
    process.exit(EXIT.bug);
  });
  // Loaded here, for the frameworks behind it take longer to load than --help takes to read.
  const { Service } = await import('./life-cycle/service.js');
  const service = new Service(settings, log);
  // Our own handlers: Nest's would raise the signal again, and the exit code would be the signal's.
  heedSignals((signal) => service.stop(signal));
  try {
    const code = await service.run();
    if (service.hasStuckThreads) await endBySignal(code, log);
    return code;
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    process.stderr.write(`orchd: ${error.message}\n`);
    return error.exitCode;
  } finally {
    flush();
  }
}

/** All is on disk and every job was given back: better a supervisor that sees a signal than one that waits until it sends it itself. */
async function endBySignal(code: ExitCode, log: Logger): Promise<void> {
  log.error(`threads stand in native code and cannot be ended: SIGKILL to this process, instead of exit code ${code}`);
  await setTimeout(LAST_LINES_MS);
  process.kill(process.pid, 'SIGKILL');
}
