import { readFileSync } from 'node:fs';

// Computes for so long of its own processor time, in slices. With `beats: 'inside'` it beats after each slice of about a millisecond; with
// 'between' after each of `sliceMs` only, as the original did.
export function handle({ payload: { workMs, sliceMs, beats } }, ctx) {
  const end = cpuMs() + workMs;
  for (let next = cpuMs() + sliceMs; cpuMs() < end;) {
    let x = 0;
    for (let i = 0; i < 100_000; i++) x = (x * 31 + i) | 0;
    if (beats === 'inside') ctx.heartbeat();
    else if (cpuMs() >= next) {
      ctx.heartbeat();
      next = cpuMs() + sliceMs;
    }
  }
}

/** Of this thread alone. Node 20 does not know it; Linux does. */
function cpuMs() {
  const [nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}
