import { HandlerRegistry, QueueService, WorkerPool } from '@orchd/queue';
import { createStorage } from '@orchd/storage';
import { Queue, Worker } from 'bullmq';

export const TYPE = 'benchmark';
const QUEUE = 'rivals';
const BATCH = 500;

/** 100 bytes as JSON, for both. */
export const PAYLOAD = { text: 'x'.repeat(89) };

/**
 * What a measurement needs of each rival, in their own words: `enqueue` one job, `preload` many, `work` off what waits with so many jobs in
 * flight (resolves when all are finished there), `wait` for jobs that do not come.
 */
export const SIDES = { orchd: openOrchd, storage: openStorage, bullmq: openBullmq };

async function openOrchd(port) {
  const storage = await createStorage({ storage: 'redis', redisUrl: `redis://127.0.0.1:${port}`, redisPrefix: QUEUE });
  await storage.open();
  const registry = new HandlerRegistry();
  const queue = new QueueService(storage, registry);
  const request = { type: TYPE, payload: PAYLOAD };
  let pool;
  return {
    enqueue: () => queue.enqueue(request),
    async preload(jobs) {
      for (let n = 0; n < jobs; n += BATCH) await queue.enqueueMany(Array.from({ length: Math.min(BATCH, jobs - n) }, () => request));
    },
    async work(jobs, inFlight) {
      let entered = 0;
      let last;
      const allEntered = new Promise((resolve) => (last = resolve));
      registry.register(TYPE, async () => {
        if (++entered === jobs) last();
      });
      pool = new WorkerPool(storage, registry, { workers: inFlight, keepFinished: 0, keepFinishedMs: 0 });
      pool.start();
      await allEntered;
      await pool.stop();
      const { counts } = await queue.stats();
      if (counts.done !== jobs) throw new Error(`${counts.done} of ${jobs} jobs are done`);
    },
    wait(inFlight) {
      registry.register(TYPE, async () => {});
      pool = new WorkerPool(storage, registry, { workers: inFlight });
      pool.start();
    },
    async close() {
      await pool?.stop();
      await storage.close();
    },
  };
}

/** The adapter alone: claims for all that is free, and acks at once. */
async function openStorage(port) {
  const storage = await createStorage({ storage: 'redis', redisUrl: `redis://127.0.0.1:${port}`, redisPrefix: QUEUE });
  await storage.open();
  const job = () => ({ queue: QUEUE, type: TYPE, payload: JSON.stringify(PAYLOAD) });
  return {
    enqueue: () => storage.enqueue([job()]),
    async preload(jobs) {
      for (let n = 0; n < jobs; n += BATCH) await storage.enqueue(Array.from({ length: Math.min(BATCH, jobs - n) }, job));
    },
    work: (jobs, inFlight) => claimAndAck(storage, jobs, inFlight),
    close: () => storage.close(),
  };
}

/** Resolves when so many acks were answered. Two claims at a time, as a pool has them with a backlog, for half of the workers each at most. */
function claimAndAck(storage, jobs, inFlight) {
  return new Promise((resolve, reject) => {
    let free = inFlight;
    let acked = 0;
    let claiming = 0;
    const claim = async () => {
      if (claiming === 2 || free === 0 || acked === jobs) return;
      claiming++;
      const limit = Math.min(free, inFlight / 2);
      free -= limit;
      next();
      const claimed = await storage.claim({ queue: QUEUE, limit, owner: 'bench', leaseMs: 60_000, waitMs: 100 });
      free += limit - claimed.length;
      claiming--;
      for (const job of claimed) storage.ack(job).then(ended, reject);
      next();
    };
    const next = () => void setImmediate(() => claim().catch(reject));
    const ended = () => {
      free++;
      if (++acked === jobs) resolve();
      else if (claiming < 2) next();
    };
    next();
  });
}

async function openBullmq(port) {
  const connection = { host: '127.0.0.1', port };
  const queue = new Queue(QUEUE, { connection });
  await queue.waitUntilReady();
  let worker;
  return {
    enqueue: () => queue.add(TYPE, PAYLOAD),
    async preload(jobs) {
      for (let n = 0; n < jobs; n += BATCH) {
        await queue.addBulk(Array.from({ length: Math.min(BATCH, jobs - n) }, () => ({ name: TYPE, data: PAYLOAD })));
      }
    },
    async work(jobs, inFlight) {
      let completed = 0;
      worker = new Worker(QUEUE, async () => {}, { connection, concurrency: inFlight, autorun: false });
      await worker.waitUntilReady();
      await new Promise((resolve) => {
        worker.on('completed', () => {
          if (++completed === jobs) resolve();
        });
        void worker.run();
      });
    },
    wait(inFlight) {
      worker = new Worker(QUEUE, async () => {}, { connection, concurrency: inFlight });
    },
    async close() {
      await worker?.close();
      await queue.close();
    },
  };
}
