import { InvalidArgumentError, LIMITS } from '@orchd/storage';

/** The value, or `invalid_argument` with the option's name: constructors refuse bad options at once. */
export function integerOption(field: string, value: number, min: number, max: number = LIMITS.durationMs): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new InvalidArgumentError(field, `must be an integer ${min}..${max}`);
}
