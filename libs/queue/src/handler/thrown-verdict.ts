import { InvalidArgumentError, LIMITS } from '@orchd/storage';
import { VERDICT, type Verdict } from './verdict.js';

/** Throw it when another attempt would not help: the job is dead at once, error code `discarded`. */
export class DiscardJob extends Error {
  override readonly name = 'DiscardJob';
  readonly [VERDICT]: Verdict = { verb: 'discard' };

  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options);
  }
}

/** Throw it when the time has not come: the job comes back `ms` later, no attempt is charged. */
export class SnoozeJob extends Error {
  override readonly name = 'SnoozeJob';
  readonly [VERDICT]: Verdict;

  constructor(ms: number) {
    if (!Number.isSafeInteger(ms) || ms < 0 || ms > LIMITS.durationMs) {
      throw new InvalidArgumentError('ms', `must be an integer 0..${LIMITS.durationMs}`);
    }
    super(`again in ${ms} ms`);
    this[VERDICT] = { verb: 'snooze', inMs: ms };
  }
}
