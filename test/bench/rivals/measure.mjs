import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { SIDES } from './sides.mjs';

const WARM_UP_MS = 300;

/** Child: jobs a second that so many callers get answered, each waiting for its own. */
export async function enqueue({ side: name, port, callers, runMs }) {
  const side = await SIDES[name](port);
  await enqueueFor(side, callers, WARM_UP_MS);
  const rate = await enqueueFor(side, callers, runMs);
  await side.close();
  return rate;
}

async function enqueueFor(side, callers, runMs) {
  let answered = 0;
  const start = performance.now();
  const caller = async () => {
    while (performance.now() - start < runMs) {
      await side.enqueue();
      answered++;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return (answered * 1000) / (performance.now() - start);
}

/** Child: jobs a second from the start of the workers until the last of those that waited is finished. */
export async function work({ side: name, port, jobs, inFlight }) {
  const side = await SIDES[name](port);
  await side.preload(jobs);
  const start = performance.now();
  await side.work(jobs, inFlight);
  const seconds = (performance.now() - start) / 1000;
  await side.close();
  return jobs / seconds;
}

/** Child: so many jobs wait when it ends. */
export async function fill({ side: name, port, jobs }) {
  const side = await SIDES[name](port);
  await side.preload(jobs);
  await side.close();
  return jobs;
}

/** Child: workers wait for jobs that do not come. */
export async function idle({ side: name, port, inFlight, runMs }) {
  const side = await SIDES[name](port);
  side.wait(inFlight);
  await setTimeout(runMs);
  await side.close();
  return runMs;
}
