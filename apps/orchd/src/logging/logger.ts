import { pino, destination, type DestinationStream, type Logger } from 'pino';
import pretty from 'pino-pretty';

export type { Logger };

/** Characters kept for a reader that does not read; what comes after is dropped. */
const MAX_UNREAD = 4 * 2 ** 20;
/** How long the end of the process waits for such a reader. */
const LAST_LINES_MS = 500;

/** JSON lines, or readable ones when a person looks at them. Payloads, results and keys of jobs are never logged. */
export function createLogger(stdout: { readonly isTTY: boolean; readonly fd: number }): {
  readonly log: Logger;
  readonly flush: () => void;
} {
  let givenUpAtMs = Infinity;
  // A pipe that is full and that nobody reads is asked again and again: at the end not for ever.
  const retryEAGAIN = (): boolean => performance.now() < givenUpAtMs;
  const stream = stdout.isTTY ? prettyStream() : destination({ fd: stdout.fd, sync: false, maxLength: MAX_UNREAD, retryEAGAIN });
  // A reader that goes away (`orchd | head`) costs its lines, not the service.
  (stream as NodeJS.EventEmitter & DestinationStream).on('error', () => undefined);
  const log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (level) => ({ level }) } }, stream);
  return {
    log,
    flush: () => {
      givenUpAtMs = performance.now() + LAST_LINES_MS;
      flush(stream);
    },
  };
}

function prettyStream(): DestinationStream {
  return pretty({ colorize: true, translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid,hostname', sync: true });
}

/** Lines are written behind the event loop's back so that a slow reader delays nothing; before the process ends they must be out. */
function flush(stream: DestinationStream): void {
  const { flushSync, destroy } = stream as { flushSync?: () => void; destroy?: () => void };
  try {
    flushSync?.call(stream);
  } catch {
    // The reader does not read or is gone, or the stream never opened. Pino would try again as the process ends, and throw then.
    destroy?.call(stream);
  }
}
