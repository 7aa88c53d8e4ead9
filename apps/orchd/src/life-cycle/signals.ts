import { EXIT } from './exit-codes.js';

let heed: ((signal: NodeJS.Signals) => void) | null = null;

/**
 * From here on signals mean this. Before there is a service: there is nothing to give back, and to be told to stop is no failure. The
 * listener stays the same: with one taken away a signal would be lost that came while the event loop was busy.
 */
export function heedSignals(stop: (signal: NodeJS.Signals) => void = endNow): void {
  const listens = heed !== null;
  heed = stop;
  if (listens) return;
  const listener = (signal: NodeJS.Signals) => heed?.(signal);
  process.on('SIGTERM', listener).on('SIGINT', listener);
}

function endNow(): never {
  process.exit(EXIT.stopped);
}
