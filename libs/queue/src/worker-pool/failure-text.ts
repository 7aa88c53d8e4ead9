import { LIMITS } from '@orchd/storage';

/**
 * A readable reason for whatever a handler threw: null, a string, an object that refers to itself, an error whose getters throw (cases
 * H01, H02). Only name and message of an error are taken, nothing else of it crosses into the storage. Never throws.
 */
export function failureText(thrown: unknown): string {
  const text = attempt(() => describe(thrown)) ?? 'threw a value that cannot be read';
  return text.slice(0, LIMITS.errorMessage).toWellFormed();
}

function describe(thrown: unknown): string | undefined {
  if (typeof thrown === 'string') return thrown === '' ? 'threw an empty string' : thrown;
  if (typeof thrown !== 'object' || thrown === null) return `threw ${String(thrown)}`;
  const message = attempt(() => (thrown as { message?: unknown }).message);
  const name = attempt(() => (thrown as { name?: unknown }).name);
  if (typeof message === 'string')
    return typeof name === 'string' && name !== 'Error' ? `${name}: ${message}` : message || 'threw an Error without message';
  return `threw ${attempt(() => JSON.stringify(thrown)) ?? Object.prototype.toString.call(thrown)}`;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
