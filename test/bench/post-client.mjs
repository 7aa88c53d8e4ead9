// node post-client.mjs URL CLIENTS WARM_UP_S COUNTED_S [BODY]: submits jobs as fast as CLIENTS keep-alive connections can, one request at a time
// each, and prints how many a second were accepted once it was warm, and how long they took. An answer other than 201 ends it.
import { performance } from 'node:perf_hooks';
import { Client } from 'undici';
import { percentile } from './lib/statistics.mjs';

const SIMULATED = JSON.stringify({ work_ms: 20, fail_prob: 0.2, hang_prob: 0.01 });
const [url, clients, warmUpS, countedS, text = SIMULATED] = process.argv.slice(2);
const { origin, pathname } = new URL(url);
const body = Buffer.from(text);
const headers = ['content-type', 'application/json'];

const start = performance.now();
const countFrom = start + warmUpS * 1000;
const end = countFrom + countedS * 1000;
const times = [];

/** Resolves when the time is over. `dispatch` makes no stream per answer: the client shares its processors with the server. */
function client() {
  const connection = new Client(origin, { pipelining: 1 });
  return new Promise((resolve, reject) => {
    let sentAt;
    const handler = {
      onRequestStart() {},
      onResponseStart(_controller, status) {
        if (status !== 201) reject(new Error(`answered with ${status}`));
      },
      onResponseData() {},
      onResponseEnd() {
        const now = performance.now();
        if (now >= countFrom && now < end) times.push(now - sentAt);
        if (now < end) next();
        else resolve(connection.close());
      },
      onResponseError: (_controller, error) => reject(error),
    };
    const next = () => {
      sentAt = performance.now();
      connection.dispatch({ method: 'POST', path: pathname, headers, body }, handler);
    };
    next();
  });
}

await Promise.all(Array.from({ length: Number(clients) }, client));
const [p50, p99, max] = [50, 99, 100].map((percent) => percentile(times, percent));
console.log(JSON.stringify({ per_second: times.length / countedS, p50_ms: p50, p99_ms: p99, max_ms: max }));
