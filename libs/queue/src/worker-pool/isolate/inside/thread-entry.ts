import { readlinkSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { HandlerHost } from './handler-host.js';
import type { InsideSettings, Line } from './protocol.js';
import { ThreadCells } from './thread-cells.js';

/** First module of every handler thread. It imports nothing but what is in this folder: a thread must start fast. */
const { settings, memory } = workerData as { settings: InsideSettings; memory: SharedArrayBuffer };
const cells = new ThreadCells(memory);
cells.tellTaskId(taskId());

const line: Line = {
  send: (message) => parentPort!.postMessage(message),
  listen: (receive) => parentPort!.on('message', receive),
  enter: () => cells.beat(),
  beat() {
    cells.beat();
    return cells.abortReason();
  },
};

await new HandlerHost(settings, line).start();

/** Only Linux tells. */
function taskId(): number {
  try {
    return Number(/[0-9]+$/.exec(readlinkSync('/proc/thread-self'))?.[0] ?? 0);
  } catch {
    return 0;
  }
}
