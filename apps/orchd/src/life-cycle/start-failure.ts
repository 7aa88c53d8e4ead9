import { OrchdError } from '@orchd/storage';
import { EXIT, exitCodeOf, type ExitCode } from './exit-codes.js';

/** Why the service did not start: one line for a person, one number for a supervisor. */
export class StartFailure extends Error {
  constructor(
    readonly exitCode: ExitCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What the storage refused when it was made or opened. */
export function storageFailure(error: unknown): StartFailure {
  if (error instanceof StartFailure) return error;
  if (!(error instanceof OrchdError)) throw error;
  return new StartFailure(exitCodeOf(error.code), error.message, { cause: error });
}

/** What the operating system refused when the port was bound. */
export function listenFailure(error: NodeJS.ErrnoException, host: string, port: number): StartFailure {
  const address = `${host}:${port}`;
  if (error.code === 'EADDRINUSE')
    return new StartFailure(EXIT.occupied, `cannot listen on ${address}: the port is in use`, { cause: error });
  return new StartFailure(EXIT.badSetting, `cannot listen on ${address}: ${error.message} (--host, --port)`, { cause: error });
}
