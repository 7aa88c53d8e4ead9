/** Levels of arrays and objects in a payload. */
export const MAX_PAYLOAD_DEPTH = 100;

/**
 * Why a parsed payload could not be kept as it was sent, or null. `JSON.parse` makes `Infinity` of `1e999`, and `JSON.stringify` would
 * make `null` of that; and the stack of `JSON.stringify` ends somewhere, so the depth is bounded before.
 */
export function payloadProblem(value: unknown, levels = MAX_PAYLOAD_DEPTH): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'must hold only numbers that a double can hold';
  if (typeof value !== 'object' || value === null) return null;
  if (levels === 0) return `must not be deeper than ${MAX_PAYLOAD_DEPTH} levels`;
  for (const child of Array.isArray(value) ? value : Object.values(value)) {
    const problem = payloadProblem(child, levels - 1);
    if (problem !== null) return problem;
  }
  return null;
}
