import type { NewJob } from '../../contract/index.js';
import type { ModelRequest } from '../model-job.js';
import type { Walk } from './walk.js';

export const QUEUES = ['default', 'video', 'Reports_2'] as const;
const TYPES = ['send', 'constructor', 'a.b:c'] as const;
const KEYS = Array.from({ length: 12 }, (_, index) => `key ${index} \u{1f511}`);
const PRINTS = ['print-1', 'print-2'] as const;
const HOUR_MS = 3_600_000;
const BEYOND_A_TIMER_MS = 2 ** 31 + 5;

/** A new job. Its id tells nothing about when it was made, so that "by id" and "by age" are different orders. */
export function newRequest(walk: Walk): ModelRequest {
  const { random } = walk;
  const maybe = (probability: number, fields: () => Partial<NewJob>): Partial<NewJob> => (random.chance(probability) ? fields() : {});
  return {
    id: `${random.pick(['a', 'K', 'z', '7'])}-${walk.number()}`,
    queue: random.pick(QUEUES),
    type: random.pick(TYPES),
    payload: JSON.stringify({ n: random.between(0, 1000), text: 'Grüße \u0000 "\\' }),
    ...maybe(0.4, () => ({ priority: random.pick([0, 5, 5, 6, 9]) })),
    ...maybe(0.3, () => ({ delayMs: anyDelay(walk) })),
    ...maybe(0.7, () => ({ maxAttempts: random.between(1, 4) })),
    ...maybe(0.7, () => ({ maxRequeues: random.between(0, 5) })),
    ...maybe(0.2, () => ({ timeoutMs: random.between(0, HOUR_MS) })),
    ...maybe(0.9, () => ({ backoff: anyBackoff(walk) })),
    ...maybe(0.2, () => ({ dedupeKey: random.pick(KEYS) })),
    ...maybe(0.5, () => ({ fingerprint: random.pick(PRINTS) })),
  };
}

/** As a new job, but due at an instant. */
export function newAppointment(walk: Walk): ModelRequest {
  const { delayMs: _, ...request } = newRequest(walk);
  // Where the clock is the server's, the model's lags behind it: an instant close by may have passed already.
  const distance = walk.random.chance(0.3) ? -HOUR_MS : walk.exact ? anyDelay(walk) : HOUR_MS;
  return { ...request, runAt: walk.model.wall + distance };
}

/** Something that was requested before, as it was or slightly not, perhaps of a job that is forgotten by now. Undefined before there is anything. */
export function repeatedRequest(walk: Walk): ModelRequest | undefined {
  const { random, model } = walk;
  if (walk.forgotten.length > 0 && random.chance(0.3)) return random.pick(walk.forgotten);
  if (model.jobs.length === 0) return undefined;
  const first = random.pick(model.jobs).request;
  if (first.dedupeKey !== undefined && random.chance(0.4)) return { ...first, id: `again-${walk.number()}` };
  return random.chance(0.3) ? { ...first, fingerprint: 'another print' } : first;
}

/**
 * Where the clock is moved by hand, any delay. Else delays that have surely passed, or surely not, at the next look: how long a step takes
 * is then nobody's business.
 */
export function anyDelay({ random, exact }: Walk): number {
  if (!exact) return random.chance(0.8) ? random.between(1, 10) : HOUR_MS;
  return random.pick([0, 1, random.between(2, 50), random.between(51, 2000), HOUR_MS, BEYOND_A_TIMER_MS]);
}

function anyBackoff({ random, exact }: Walk): { baseMs: number; capMs: number } {
  if (!exact) return { baseMs: random.between(0, 1), capMs: 8 };
  return random.pick([
    { baseMs: 0, capMs: 0 },
    { baseMs: 5, capMs: 60_000 },
    { baseMs: 100, capMs: 150 },
    { baseMs: 1, capMs: 2 },
  ]);
}
