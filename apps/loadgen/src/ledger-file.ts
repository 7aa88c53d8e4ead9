import { closeSync, openSync, writeSync } from 'node:fs';
import type { LedgerEvent, LedgerSink } from './ledger.js';

export interface LedgerFile {
  readonly append: LedgerSink;
  close(): void;
}

/**
 * Opens a file that gets one JSON line per ledger event: `{"at", "event", "n", "key", "target", ...}`, `at` in epoch ms.
 *
 * The write is synchronous on purpose: a line is with the operating system before its request leaves, so the file knows
 * of every request also when the load generator itself is killed. Throws when the file cannot be opened.
 */
export function openLedgerFile(path: string, wallClock: () => number): LedgerFile {
  const file = openSync(path, 'a');
  return {
    append: (event: LedgerEvent) => void writeSync(file, `${JSON.stringify({ at: wallClock(), ...event })}\n`),
    close: () => closeSync(file),
  };
}
