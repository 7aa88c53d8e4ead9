import 'reflect-metadata';
import { helpText } from './config/help-text.js';
import { readSettings } from './config/read-settings.js';
import { VERSION } from './config/version.js';
import { EXIT, type ExitCode } from './life-cycle/exit-codes.js';
import { Service } from './life-cycle/service.js';
import { StartFailure } from './life-cycle/start-failure.js';
import { createLogger } from './logging/logger.js';
import type { Settings } from './config/settings.js';

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

/** Resolves with the exit code when all that was logged is written. */
async function serve(settings: Settings): Promise<ExitCode> {
  const { log, flush } = createLogger(process.stdout);
  const service = new Service(settings, log);
  // Our own handlers: Nest's would raise the signal again, and the exit code would be the signal's.
  process.on('SIGTERM', () => service.end('SIGTERM', EXIT.stopped));
  process.on('SIGINT', () => service.end('SIGINT', EXIT.stopped));
  process.on('uncaughtException', (error) => {
    // After a bug nobody knows what holds; the log on disk does, and the next process starts from it.
    log.fatal({ err: error }, 'uncaught error: the process ends now');
    flush();
    process.exit(EXIT.bug);
  });
  try {
    return await service.run();
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    process.stderr.write(`orchd: ${error.message}\n`);
    return error.exitCode;
  } finally {
    flush();
  }
}
