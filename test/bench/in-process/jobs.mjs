import { HandlerRegistry, QueueService } from '@orchd/queue';
import { createStorage } from '@orchd/storage';

export const TYPE = 'benchmark';

/** A payload as applications have: some ids, a few words; about 100 bytes as JSON. */
export function payload(n) {
  return { to: `customer-${n}@example.org`, template: 'order-confirmed', locale: 'en', order: 1_000_000 + n, urgent: false };
}

/** An open storage and the queue on it, through the public packages alone. */
export async function openQueue(settings) {
  const storage = await createStorage({ warn: (message, details) => console.error(message, details), ...settings });
  await storage.open();
  const registry = new HandlerRegistry();
  return { storage, registry, queue: new QueueService(storage, registry) };
}

const BATCH = 1000;

/** Resolves when so many jobs wait, in the default queue or another. */
export async function preload(queue, jobs, name = 'default') {
  for (let n = 0; n < jobs; n += BATCH) {
    const size = Math.min(BATCH, jobs - n);
    await queue.enqueueMany(Array.from({ length: size }, (_, i) => ({ queue: name, type: TYPE, payload: payload(n + i) })));
  }
}
