import { setTimeout } from 'node:timers/promises';

const POLL_MS = 5;
const LIMIT_MS = 30_000;

type Truthy<T> = Exclude<T, false | null | undefined>;

/** Asks again and again until the answer is true (or any other truthy value, which is returned). What it throws ends the waiting. */
export async function eventually<T>(what: string, ask: () => Promise<T> | T, limitMs = LIMIT_MS): Promise<Truthy<T>> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer) return answer as Truthy<T>;
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms in vain for: ${what}`);
    await setTimeout(POLL_MS);
  }
}
