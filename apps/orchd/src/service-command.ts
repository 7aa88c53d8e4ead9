import { helpText } from './config/help-text.js';
import { readSettings } from './config/read-settings.js';
import type { Settings } from './config/settings.js';
import { VERSION } from './config/version.js';
import { EXIT, type ExitCode } from './life-cycle/exit-codes.js';
import type { Service } from './life-cycle/service.js';
import { StartFailure } from './life-cycle/start-failure.js';
import { createLogger } from './logging/logger.js';

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
  let service: Service | null = null;
  // Our own handlers: Nest's would raise the signal again, and the exit code would be the signal's.
  const stop = (signal: NodeJS.Signals) => (service ? service.stop(signal) : process.exit(EXIT.stopped));
  process.on('SIGTERM', stop).on('SIGINT', stop);
  // Loaded here, for the frameworks behind it take longer to load than --help takes to read.
  service = new (await import('./life-cycle/service.js')).Service(settings, log);
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
