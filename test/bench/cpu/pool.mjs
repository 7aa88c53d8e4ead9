import { HandlerRegistry } from '../../../libs/queue/dist/handler/handler.registry.js';
import { WorkerPool } from '../../../libs/queue/dist/worker-pool/worker-pool.js';
import { MemoryStorageAdapter } from '../../../libs/storage/dist/adapters/memory/index.js';

/** A pool on a storage in memory, with one module as the handler of the type `job`; nothing in between that is not measured. */
export async function poolOf(module, { handler = {}, ...options } = {}) {
  const storage = new MemoryStorageAdapter();
  await storage.open();
  const registry = new HandlerRegistry();
  registry.register('job', module, handler);
  const pool = new WorkerPool(storage, registry, { shutdownGraceMs: 0, ...options });
  pool.start();
  return {
    storage,
    pool,
    enqueue: (count, job = {}) =>
      storage.enqueue(Array.from({ length: count }, () => ({ queue: 'default', type: 'job', payload: 'null', ...job }))),
    async close() {
      await pool.stop();
      await storage.close();
    },
  };
}

/** A module of a few lines, as a file. */
export function moduleFile(name) {
  return new URL(`./handlers/${name}.mjs`, import.meta.url);
}
