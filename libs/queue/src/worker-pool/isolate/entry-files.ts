/** The first modules of threads and of processes. Apart from those who start them, for tests run from sources that no thread can load. */
export const THREAD_ENTRY = new URL('./inside/thread-entry.js', import.meta.url);
export const PROCESS_ENTRY = new URL('./inside/process-entry.js', import.meta.url);
