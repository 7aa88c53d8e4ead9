// node --import loop-delay.mjs?file=PATH: how late the event loop of a process comes to a timer of 10 ms, all its life. Written when it exits,
// as JSON: [epoch ms, ms late] for each time.
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const EVERY_MS = 10;
const file = new URL(import.meta.url).searchParams.get('file');

// A flag like this is handed on to the threads of a process.
if (isMainThread) {
  const looks = [];
  let due = performance.now() + EVERY_MS;
  const look = () => {
    const now = performance.now();
    looks.push([Date.now(), Math.max(0, now - due)]);
    due = now + EVERY_MS;
    setTimeout(look, EVERY_MS).unref();
  };
  setTimeout(look, EVERY_MS).unref();
  process.on('exit', () => writeFileSync(file, JSON.stringify(looks)));
}
