import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { HandlerHost } from './handler-host.js';
import { JsonLines, PIPE_FD } from './json-lines.js';
import type { Beat, InsideSettings, Line, ToInside } from './protocol.js';

/** First module of every handler process; like that of a thread it imports nothing but what is in this folder. */
const settings = JSON.parse(process.argv[2]!) as InsideSettings & { readonly parent: number };
const kill = process.kill.bind(process);

const pipe = new Socket({ fd: PIPE_FD });
const lines = new JsonLines(pipe);
let toldMs = -Infinity;

function tellBeat(): null {
  toldMs = performance.now();
  lines.send({ kind: 'beat' } satisfies Beat);
  return null;
}

const line: Line = {
  send: (message) => lines.send(message),
  listen: (receive) => lines.listen((message) => receive(message as ToInside)),
  enter: () => void tellBeat(),
  beat: () => (performance.now() - toldMs < settings.beatEveryMs ? null : tellBeat()),
};

// Nobody would read the outcome, and nobody would end what the handler has started.
pipe.on('close', () => kill(-process.pid, 'SIGKILL'));
new Worker(new URL('./orphan-watch.js', import.meta.url), { workerData: settings.parent }).unref();

await new HandlerHost(settings, line).start();
