import { verdictOf } from '../../../handler/verdict.js';
import { failureText } from '../../failure-text.js';
import type { InsideLimits, InsideNotes, Outcome } from './protocol.js';

const MAX_STACK = 4000;

/** The result as JSON: made here, where it costs no other job anything, and what JSON cannot say never has to cross (case H10). */
export function returned(value: unknown, notes: InsideNotes | null, limits: InsideLimits): Outcome {
  if (value === undefined) return { kind: 'returned', result: null, notes };
  const result = jsonText(value);
  if (result === undefined) return failure('result not serialisable', notes);
  if (result.length > limits.text) return failure(`result longer than ${limits.text} characters`, notes);
  return { kind: 'returned', result, notes };
}

/** Only a text and a stack, both cut, and the flag of a verdict leave (cases H02, H11). */
export function threw(thrown: unknown, notes: InsideNotes | null, limits: InsideLimits): Outcome {
  return { kind: 'threw', message: failureText(thrown, limits.errorMessage), stack: stackOf(thrown), verdict: verdictOf(thrown), notes };
}

export function stackOf(thrown: unknown): string | null {
  try {
    const { stack } = thrown as { stack?: unknown };
    return typeof stack === 'string' ? stack.slice(0, MAX_STACK) : null;
  } catch {
    return null;
  }
}

function failure(message: string, notes: InsideNotes | null): Outcome {
  return { kind: 'threw', message, stack: null, verdict: null, notes };
}

/** Undefined for what JSON cannot say: functions, symbols, BigInts, circles, a `toJSON` that throws. */
function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
