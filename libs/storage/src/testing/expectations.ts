import assert from 'node:assert/strict';
import { InvalidArgumentError, OrchdError, type ErrorCode } from '../contract/index.js';

/** Real time. Nothing here takes as long; what does will never come. */
const DEADLINE_MS = 3000;
/** Event-loop turns in which a call that has nothing to wait for would have ended. */
const QUIET_TURNS = 20;

/** The call is refused, by this code. */
export async function refused(call: Promise<unknown>, code: ErrorCode, claim = `the call is refused with ${code}`): Promise<void> {
  const error = await within(
    call.then(
      (value) => assert.fail(`${claim}; it resolved with ${JSON.stringify(value)}`),
      (reason: unknown) => reason,
    ),
    claim,
  );
  if (error instanceof assert.AssertionError) throw error;
  assert.ok(error instanceof OrchdError, `${claim}; it was rejected with ${String(error)}, which is no OrchdError`);
  assert.equal(error.code, code, `${claim}; it was rejected with ${error.code}: ${error.message}`);
}

/** The argument is refused, by the name of its field. */
export async function refusedField(call: Promise<unknown>, field: string, what: string): Promise<void> {
  const error: unknown = await call.then(
    () => assert.fail(`${what} is refused for its ${field}; it was accepted`),
    (reason: unknown) => reason,
  );
  if (error instanceof assert.AssertionError) throw error;
  assert.ok(error instanceof InvalidArgumentError, `${what}: an InvalidArgumentError, not ${String(error)}`);
  assert.equal(error.code, 'invalid_argument');
  assert.equal(error.field, field, `${what}: the field that is to blame`);
}

/** As the call, but with an end: something that never comes fails by name, not by the runner's time-out. */
export async function within<T>(call: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: `${what}: nothing within ${DEADLINE_MS} ms` })), DEADLINE_MS);
  });
  try {
    return await Promise.race([call, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/** The call has not ended, although it had every chance to. */
export async function pending(call: Promise<unknown>, claim: string): Promise<void> {
  let ended = false;
  const mark = (): void => void (ended = true);
  call.then(mark, mark);
  await turns(QUIET_TURNS);
  assert.equal(ended, false, claim);
}

export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => void setImmediate(resolve));
}

/** The values rise, each above the one before. */
export function assertRising(values: readonly (number | string)[], what: string): void {
  values.forEach((value, i) => assert.ok(i === 0 || value > values[i - 1]!, `${what}: ${values[i - 1]} is followed by ${value}`));
}
