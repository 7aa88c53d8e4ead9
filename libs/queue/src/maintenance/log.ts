/** What the plain classes of this package need of a logger; Nest's `Logger` is one. */
export interface Log {
  debug(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export const silentLog: Log = { debug: () => undefined, warn: () => undefined, error: () => undefined };

/** An error for a log line: its message, and its code where it has one. */
export function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? `${String(error.code)}: ${error.message}` : error.message;
}
