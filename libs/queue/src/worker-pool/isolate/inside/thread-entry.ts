import { parentPort, workerData } from 'node:worker_threads';
import { HandlerHost } from './handler-host.js';
import type { InsideSettings, Line } from './protocol.js';
import { ThreadCells } from './thread-cells.js';

/** First module of every handler thread. It imports nothing but what is in this folder: a thread must start fast. */
const { settings, memory } = workerData as { settings: InsideSettings; memory: SharedArrayBuffer };
const cells = new ThreadCells(memory);

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
