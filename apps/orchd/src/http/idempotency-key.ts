import { DEDUPE_KEY_MAX } from '@orchd/storage';
import type { FastifyRequest } from 'fastify';
import { invalidField } from './errors/http-problem.js';

const HEADER = 'Idempotency-Key';
/** A header carries bytes, not characters: what is not plain ASCII would be read differently by each proxy on its way. */
const PRINTABLE_ASCII = /^[\x20-\x7e]+$/;

/** The key that the header `Idempotency-Key` names, if the request has one. */
export function idempotencyKey({ headers, raw }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  // Node joins two headers of one name with a comma, which a key may hold as well.
  const sent = raw.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'idempotency-key').length;
  if (sent > 1) throw invalidField(HEADER, 'must stand once');
  if (typeof key !== 'string' || key.length > DEDUPE_KEY_MAX || !PRINTABLE_ASCII.test(key)) {
    throw invalidField(HEADER, `must have 1..${DEDUPE_KEY_MAX} printable ASCII characters`);
  }
  return key;
}

export function refuseIdempotencyKey({ headers }: FastifyRequest): void {
  if (headers['idempotency-key'] !== undefined) throw invalidField(HEADER, 'is for single jobs; give each job of a batch its dedupe_key');
}
