/** What stands in Redis and therefore never changes without a new version; KEYS.md describes it. */
export const FORMAT_VERSION = '2';

/** What a job's kind leaves out. Not the contract's defaults: those may change, stored jobs do not. */
export const IMPLIED = { priority: 5, maxAttempts: 5, maxRequeues: 10, timeoutMs: 0, baseMs: 10, capMs: 60_000 } as const;

/** The largest value that leaves a hash a listpack (`hash-max-listpack-value`), and how many of them hold one text. */
export const PIECE_BYTES = 64;
export const PIECES = 4;
/** What fits into the pieces even if each ends three bytes early, before a character. */
export const INLINE_BYTES = 240;

/** Messages the control stream keeps, about: more than any bell can miss while it reconnects. */
export const CTL_LENGTH = 1000;
