import { isVerdict } from '../../handler/verdict.js';
import type { Beat, FromInside } from './inside/protocol.js';

/**
 * Whether it is a message of ours. The line is there for the handler's own code as well, and for whatever that has imported: what these say
 * must not end the process that hears it.
 */
export function isFromInside(heard: unknown): heard is FromInside | Beat {
  if (!isObject(heard)) return false;
  const { kind, message, stack, result, verdict, notes } = heard;
  switch (kind) {
    case 'loaded':
    case 'beat':
      return true;
    case 'broken':
      return typeof message === 'string' && isTextOrNull(stack);
    case 'notes':
      return isNotes(heard);
    case 'returned':
      return isTextOrNull(result) && (notes === null || isNotes(notes));
    case 'threw':
      return (
        typeof message === 'string' && isTextOrNull(stack) && (verdict === null || isVerdict(verdict)) && (notes === null || isNotes(notes))
      );
    default:
      return false;
  }
}

function isNotes(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { progress, log } = value;
  if (log !== undefined && !(Array.isArray(log) && log.every((line) => typeof line === 'string'))) return false;
  return progress === undefined || (isObject(progress) && Number.isFinite(progress.percent));
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
