/** Names that say nothing, or that the error code says already. */
const PLAIN_NAMES = ['', 'Error', 'DiscardJob'];

/**
 * A readable reason for whatever a handler threw: null, a string, an object that refers to itself, an error whose getters throw (cases
 * H01, H02). Only name and message of an error are taken, nothing else of it crosses into the storage. Never throws.
 */
export function failureText(thrown: unknown, maxLength: number): string {
  const text = attempt(() => describe(thrown)) ?? 'threw a value that cannot be read';
  return text.slice(0, maxLength).toWellFormed();
}

function describe(thrown: unknown): string | undefined {
  if (typeof thrown === 'string') return thrown === '' ? 'threw an empty string' : thrown;
  if (typeof thrown !== 'object' || thrown === null) return `threw ${String(thrown)}`;
  const message = field(thrown, 'message');
  const name = field(thrown, 'name');
  if (typeof message !== 'string') return `threw ${attempt(() => JSON.stringify(thrown)) ?? Object.prototype.toString.call(thrown)}`;
  if (typeof name === 'string' && !PLAIN_NAMES.includes(name)) return `${name}: ${message}`;
  return message === '' ? 'threw an error without message' : message;
}

function field(object: object, name: string): unknown {
  return attempt(() => (object as Record<string, unknown>)[name]);
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
