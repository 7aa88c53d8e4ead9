import type { BackoffBounds } from '../../contract/index.js';
import { IMPLIED } from './format.js';

/** What a job shares with many others, kept in one field of its hash. */
export interface Kind {
  readonly queue: string;
  readonly type: string;
  readonly priority: number;
  readonly maxAttempts: number;
  readonly maxRequeues: number;
  readonly timeoutMs: number;
  readonly backoff: BackoffBounds;
}

/** More different ones are nobody's kinds any more. */
const MAX_KNOWN = 10_000;
const IMPLIED_TEXT = Object.values(IMPLIED).join(' ');
const IMPLIED_BACKOFF: BackoffBounds = Object.freeze({ baseMs: IMPLIED.baseMs, capMs: IMPLIED.capMs });
const known = new Map<string, Kind>();

/** `queue type`, and where one of them is not implied, all six numbers. The alphabets of queue and type have no space. */
export function kindOf({ queue, type, priority, maxAttempts, maxRequeues, timeoutMs, backoff }: Kind): string {
  const numbers = `${priority} ${maxAttempts} ${maxRequeues} ${timeoutMs} ${backoff.baseMs} ${backoff.capMs}`;
  return numbers === IMPLIED_TEXT ? `${queue} ${type}` : `${queue} ${type} ${numbers}`;
}

export function parseKind(text: string): Kind {
  let kind = known.get(text);
  if (kind !== undefined) return kind;
  const [queue = '', type = '', ...numbers] = text.split(' ');
  const [priority, maxAttempts, maxRequeues, timeoutMs, baseMs, capMs] =
    numbers.length === 0 ? Object.values(IMPLIED) : numbers.map(Number);
  const backoff = numbers.length === 0 ? IMPLIED_BACKOFF : Object.freeze({ baseMs: baseMs!, capMs: capMs! });
  kind = { queue, type, priority: priority!, maxAttempts: maxAttempts!, maxRequeues: maxRequeues!, timeoutMs: timeoutMs!, backoff };
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(text, kind);
  return kind;
}
