import { v7 as uuidv7 } from 'uuid';

const BYTES = 16;
/** Random bytes are drawn for so many ids at once: one call for each costs five times all the rest of an id. */
const IDS_PER_DRAW = 256;
const LAST_SEQUENCE = 2 ** 32 - 1;

/**
 * Makes UUIDv7s, each greater than the one before it, also when the clock stands still or goes back: then its millisecond is kept and the
 * 32-bit sequence counts on, from a random start (RFC 9562, 6.2, method 1).
 */
export function jobIdSource(wallMs: () => number): () => string {
  const pool = new Uint8Array(BYTES * IDS_PER_DRAW);
  let used = pool.length;
  let msecs = -Infinity;
  let seq = 0;
  return () => {
    if (used === pool.length) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    const random = pool.subarray(used, (used += BYTES));
    const now = wallMs();
    if (now > msecs) {
      msecs = now;
      seq = new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1;
    } else if (seq < LAST_SEQUENCE) {
      seq++;
    } else {
      msecs++;
      seq = 0;
    }
    return uuidv7({ random, msecs, seq });
  };
}

export const newJobId = jobIdSource(Date.now);
