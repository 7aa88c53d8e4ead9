// Stands in for libs/queue's entry-files.ts in tests: no thread can load a source, so it gets what compile-entries.mjs made of it.
import { pathToFileURL } from 'node:url';
import { entryFile } from './compile-entries.mjs';

export const THREAD_ENTRY = pathToFileURL(entryFile('thread-entry'));
export const PROCESS_ENTRY = pathToFileURL(entryFile('process-entry'));
