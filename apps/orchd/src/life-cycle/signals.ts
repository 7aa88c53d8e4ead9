import { EXIT } from './exit-codes.js';

/** From here on signals mean this. Before there is a service: there is nothing to give back, and to be told to stop is no failure. */
export function heedSignals(stop: (signal: NodeJS.Signals) => void = endNow): void {
  process.removeAllListeners('SIGTERM').removeAllListeners('SIGINT');
  process.on('SIGTERM', stop).on('SIGINT', stop);
}

function endNow(): never {
  process.exit(EXIT.stopped);
}
