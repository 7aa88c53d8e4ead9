export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

/** The stable code of an error answer, empty when there is none. */
export function errorCode(body: string): string {
  const code = readObject(body)?.code;
  return typeof code === 'string' ? code : '';
}

/** The object that a JSON text holds; nothing when it holds something else or is no JSON. */
export function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** An answer that no repetition can better: the run ends with it. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
}

const DETAIL_LENGTH = 300;

export function describeRefusal({ status, body }: Answer): Refusal {
  const message = readObject(body)?.message;
  return { status, code: errorCode(body), detail: typeof message === 'string' ? message : body.slice(0, DETAIL_LENGTH) };
}
