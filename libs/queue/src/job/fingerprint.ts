import { createHash } from 'node:crypto';

/** SHA-256 of the canonical JSON of a value: equal for requests that mean the same, whatever the order of their keys. */
export function fingerprintOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url');
}

/** The JSON text with keys sorted and undefined members dropped. Throws what `JSON.stringify` throws. */
export function canonicalJson(value: unknown): string {
  // Through JSON once, so that `toJSON`, boxed values and undefined members mean here what they mean on the wire.
  return write(JSON.parse(JSON.stringify(value) ?? 'null'));
}

function write(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(write).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = value as Record<string, unknown>;
  const keys = Object.keys(members).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${write(members[key])}`).join()}}`;
}
