/** A mark instead of `instanceof`: it holds with two copies of this package in one process, and is what crosses a thread boundary. */
export const VERDICT = Symbol.for('orchd.verdict');

export type Verdict = { readonly verb: 'discard' } | { readonly verb: 'snooze'; readonly inMs: number };

export function isVerdict(value: unknown): value is Verdict {
  if (typeof value !== 'object' || value === null) return false;
  const { verb, inMs } = value as { verb?: unknown; inMs?: unknown };
  return verb === 'discard' || (verb === 'snooze' && Number.isFinite(inMs));
}

/** What a thrown value asks for, if it asks for anything. Never throws, whatever was thrown. */
export function verdictOf(thrown: unknown): Verdict | null {
  if (typeof thrown !== 'object' || thrown === null) return null;
  try {
    return (thrown as { [VERDICT]?: Verdict })[VERDICT] ?? null;
  } catch {
    return null;
  }
}
