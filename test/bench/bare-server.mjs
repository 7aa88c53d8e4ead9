// node bare-server.mjs SLOTS: what a queue over HTTP can at best be in one Node process. Jobs stand in an array, SLOTS timers at a time
// are their work, and the answers have just the fields that the load generator reads. Nothing is checked, kept, retried or watched.
import { createServer } from 'node:http';

const slots = Number(process.argv[2]);
const jobs = [];
let next = 0;
let active = 0;

function fill() {
  while (active < slots && next < jobs.length) {
    const job = jobs[next++];
    active++;
    setTimeout(() => {
      job.done = true;
      active--;
      fill();
    }, job.workMs);
  }
}

function answer(response, status, body) {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': text.length });
  response.end(text);
}

function accept(request, response) {
  let text = '';
  request.on('data', (chunk) => (text += chunk));
  request.on('end', () => {
    const id = String(jobs.push({ workMs: JSON.parse(text).work_ms, done: false }) - 1);
    answer(response, 201, { id, state: 'ready' });
    fill();
  });
}

const server = createServer((request, response) => {
  const { method, url } = request;
  if (method === 'POST') accept(request, response);
  else if (url === '/stats') answer(response, 200, { ready: jobs.length - next, delayed: 0, active });
  else {
    const id = url.slice('/jobs/'.length);
    answer(response, 200, { id, state: jobs[id].done ? 'done' : 'ready', attempts: 0, requeues: 0 });
  }
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ msg: 'listening', port: server.address().port })));
