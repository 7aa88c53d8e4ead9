/*
 * Front door of what people do to a log by hand: verify, dump, salvage. Apart from `index.ts`, which loads Nest; a log must be readable where
 * nothing else works.
 */
export { OrchdError } from './contract/errors.js';
export { dump, salvage, verify, type BadPlace, type LogVerdict, type Loss, type WholeBatch } from './adapters/wal/wal-tools.js';
