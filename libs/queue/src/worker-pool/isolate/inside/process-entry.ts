import { Worker } from 'node:worker_threads';
import { HandlerHost } from './handler-host.js';
import type { Beat, FromInside, InsideSettings, Line, ToInside } from './protocol.js';

/** First module of every handler process; like that of a thread it imports nothing but what is in this folder. */
const settings = JSON.parse(process.argv[2]!) as InsideSettings & { readonly parent: number };
const kill = process.kill.bind(process);

let toldMs = -Infinity;

function send(message: FromInside | Beat): void {
  // Written at once, into the pipe, not when the event loop comes round: a loop that never awaits beats too.
  process.send!(message, undefined, undefined, () => undefined);
}

function tellBeat(): null {
  toldMs = performance.now();
  send({ kind: 'beat' });
  return null;
}

const line: Line = {
  send,
  listen: (receive) => process.on('message', (message) => receive(message as ToInside)),
  enter: () => void tellBeat(),
  beat: () => (performance.now() - toldMs < settings.beatEveryMs ? null : tellBeat()),
};

// Nobody would read the outcome, and nobody would end what the handler has started.
process.on('disconnect', () => kill(-process.pid, 'SIGKILL'));
new Worker(new URL('./orphan-watch.js', import.meta.url), { workerData: settings.parent }).unref();

await new HandlerHost(settings, line).start();
