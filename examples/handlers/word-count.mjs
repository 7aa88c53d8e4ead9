// node apps/orchd/dist/main.js --handlers examples/handlers, then POST /jobs {"type":"text.count","payload":{"text":"one two two"}}.
// Runs in a thread: counting a long text would hold up nobody.
export const type = 'text.count';
export const options = { timeoutMs: 60_000, heartbeatTimeoutMs: 5000 };

const BEAT_EVERY = 10_000;

/** @returns how often each word stands in the text */
export function handle({ payload }, ctx) {
  const counts = new Map();
  const words = payload.text.toLowerCase().match(/\p{L}+/gu) ?? [];
  words.forEach((word, i) => {
    counts.set(word, (counts.get(word) ?? 0) + 1);
    if (i % BEAT_EVERY === 0) ctx.heartbeat();
  });
  return { words: words.length, counts: Object.fromEntries(counts) };
}
