import { workerData } from 'node:worker_threads';

/** Ends the process and its group when its parent is gone. In a thread of its own: a handler's loop that never awaits hears of nothing. */
const LOOK_MS = 500;
const parent = workerData as number;

setInterval(() => {
  if (process.ppid !== parent) process.kill(-process.pid, 'SIGKILL');
}, LOOK_MS);
