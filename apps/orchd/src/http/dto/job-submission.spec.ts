import { describe, expect, it } from '@jest/globals';
import type { JobRequest } from '@orchd/queue';
import { HttpProblem } from '../errors/http-problem.js';
import { readBatch, readSubmission, withKey } from './job-submission.js';

/** As it comes off the wire, so that `__proto__` is an own key. */
function request(json: string | object): JobRequest {
  return readSubmission(typeof json === 'string' ? JSON.parse(json) : json).request;
}

function badFields(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof HttpProblem && error.statusCode === 400) return Object.keys(error.details.fields ?? {});
    throw error;
  }
  return [];
}

const GENERAL = { type: 'simulated' };

describe('the short form', () => {
  it('stands for type and payload', () => {
    expect(request({ work_ms: 20, fail_prob: 0.2, hang_prob: 0.01 })).toMatchObject({
      type: 'simulated',
      payload: { work_ms: 20, fail_prob: 0.2, hang_prob: 0.01 },
    });
  });

  it('needs one of its three fields; the others are 0', () => {
    expect(request({ fail_prob: 1 })).toMatchObject({ type: 'simulated', payload: { work_ms: 0, fail_prob: 1, hang_prob: 0 } });
    expect(badFields(() => request({}))).toEqual(['type']);
  });

  it('takes the fields that both forms share', () => {
    expect(request({ work_ms: 1, priority: 9, delay_ms: 5, queue: 'q' })).toMatchObject({ priority: 9, delayMs: 5, queue: 'q' });
  });

  it.each(['type', 'payload'])('does not stand beside %s', (field) => {
    expect(badFields(() => request({ work_ms: 1, [field]: 'simulated' }))).toEqual([field]);
  });
});

describe('the general form', () => {
  it('is handed on in the words of the library, what was left out left out', () => {
    const sent = {
      id: 'a.b:c-d_1',
      type: 't',
      payload: [1, { a: null }],
      queue: 'q',
      priority: 0,
      delay_ms: 0,
      max_attempts: 1,
      max_requeues: 0,
      timeout_ms: 0,
      backoff: { base_ms: 0 },
      dedupe_key: 'k',
    };
    expect(request(sent)).toEqual({
      id: 'a.b:c-d_1',
      type: 't',
      payload: [1, { a: null }],
      queue: 'q',
      priority: 0,
      delayMs: 0,
      runAt: undefined,
      maxAttempts: 1,
      maxRequeues: 0,
      timeoutMs: 0,
      backoff: { baseMs: 0, capMs: undefined },
      dedupeKey: 'k',
    });
    expect(request({ type: 't' })).toEqual({ type: 't' });
  });

  it.each([null, 0, '', false, [], {}, 'text'])('takes the payload %j', (payload) => {
    expect(request({ type: 't', payload }).payload).toEqual(payload);
  });
});

describe('a value of the right field is refused when it is wrong', () => {
  const NOT_INTEGERS = ['3', 1.5, NaN, Infinity, -Infinity, null, true, [], {}, [5], 2 ** 53, -1];
  const NOT_NAMES = [null, 1, true, [], {}, '', ' ', '../x', 'a/b', 'a\0b', 'ä', 'a b', '__proto__', '-a', 'a'.repeat(10_000)];
  const TABLE: [string, unknown[]][] = [
    ['id', [...NOT_NAMES, 'a'.repeat(129)]],
    ['type', [...NOT_NAMES, '1a', 'a'.repeat(129)]],
    ['queue', [...NOT_NAMES, 'a.b', 'a:b', 'a'.repeat(65)]],
    ['priority', [...NOT_INTEGERS, 10]],
    ['delay_ms', [...NOT_INTEGERS, 3_155_760_000_001]],
    ['run_at', NOT_INTEGERS],
    ['max_attempts', [...NOT_INTEGERS, 0, 1001]],
    ['max_requeues', [...NOT_INTEGERS, 1001]],
    ['timeout_ms', [...NOT_INTEGERS, 86_400_001]],
    ['backoff', [null, 1, '1', [], [{}], true]],
    ['dedupe_key', [null, 1, '', 'a'.repeat(256), [], {}, '\ud800']],
  ];

  it.each(TABLE.flatMap(([field, values]) => values.map((value) => [field, value] as const)))('%s: %j', (field, value) => {
    expect(badFields(() => request({ ...GENERAL, [field]: value }))).toEqual([field]);
  });

  it.each(['base_ms', 'cap_ms'].flatMap((field) => [...NOT_INTEGERS, 86_400_001].map((value) => [field, value] as const)))(
    'backoff.%s: %j',
    (field, value) => {
      expect(badFields(() => request({ ...GENERAL, backoff: { [field]: value } }))).toEqual([`backoff.${field}`]);
    },
  );

  const NOT_PROBABILITIES = ['0.5', NaN, Infinity, null, true, [], {}, -0.1, 1.1];
  const SHORT: [string, unknown[]][] = [
    ['work_ms', ['20', NaN, Infinity, null, true, [], {}, -1, 86_400_001]],
    ['fail_prob', NOT_PROBABILITIES],
    ['hang_prob', NOT_PROBABILITIES],
  ];

  it.each(SHORT.flatMap(([field, values]) => values.map((value) => [field, value] as const)))('%s: %j, in either form', (field, value) => {
    expect(badFields(() => request({ [field]: value }))).toEqual([field]);
    expect(badFields(() => request({ ...GENERAL, payload: { [field]: value } }))).toContain(`payload.${field}`);
  });

  it.each([[null], [[]], ['x'], [1]])('payload %j of the type simulated', (payload) => {
    expect(badFields(() => request({ ...GENERAL, payload }))).toEqual(['payload']);
  });

  it('delay_ms beside run_at', () => {
    expect(badFields(() => request({ ...GENERAL, delay_ms: 1, run_at: 1 }))).toEqual(['run_at']);
  });
});

describe('the limits themselves are allowed', () => {
  it.each([
    { id: 'a'.repeat(128) },
    { type: 'a'.repeat(128) },
    { queue: 'a'.repeat(64) },
    { priority: 9 },
    { delay_ms: 3_155_760_000_000 },
    { run_at: Number.MAX_SAFE_INTEGER },
    { run_at: 0 },
    { max_attempts: 1000 },
    { max_requeues: 1000 },
    { timeout_ms: 86_400_000 },
    { backoff: { base_ms: 86_400_000, cap_ms: 86_400_000 } },
    { backoff: {} },
    { dedupe_key: 'ä'.repeat(255) },
  ])('%j', (fields) => {
    expect(badFields(() => request({ type: 't', ...fields }))).toEqual([]);
  });
});

describe('unknown fields', () => {
  it.each(['nope', '__proto__', 'constructor', 'hasOwnProperty', 'toString', 'isPrototypeOf', '__defineGetter__', ''])(
    'are refused: %j',
    (field) => {
      for (const json of [`{"type":"t",${JSON.stringify(field)}:1}`, `{"work_ms":1,${JSON.stringify(field)}:1}`]) {
        expect(badFields(() => request(json))).toEqual([field]);
      }
      expect(badFields(() => request(`{"type":"t","backoff":{${JSON.stringify(field)}:1}}`))).toEqual([`backoff.${field}`]);
      expect(badFields(() => request(`{"type":"simulated","payload":{${JSON.stringify(field)}:1}}`))).toEqual([`payload.${field}`]);
      expect(({} as { nope?: unknown }).nope).toBeUndefined();
    },
  );

  it('are cut in the answer when their name is very long', () => {
    expect(badFields(() => request({ ...GENERAL, ['x'.repeat(10_000)]: 1 }))).toEqual([`${'x'.repeat(64)}...`]);
  });
});

describe('a payload', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

  it('may have 100 levels and no more', () => {
    expect(badFields(() => request(`{"type":"t","payload":${nested(100)}}`))).toEqual([]);
    expect(badFields(() => request(`{"type":"t","payload":${nested(101)}}`))).toEqual(['payload']);
    expect(badFields(() => request(`{"type":"t","payload":${nested(100_000)}}`))).toEqual(['payload']);
  });

  it.each(['1e999', '[1,-1e999]', '{"a":{"b":1e999}}'])('is refused when JSON could not give it back: %s', (payload) => {
    expect(badFields(() => request(`{"type":"t","payload":${payload}}`))).toEqual(['payload']);
  });
});

describe('a body', () => {
  it.each([undefined, null, [], [GENERAL], 'text', 1, true])('that is no object is refused: %j', (body) => {
    expect(badFields(() => readSubmission(body))).toEqual(['body']);
  });

  it('is told every problem at once', () => {
    expect(badFields(() => request({ type: 1, priority: -1, nope: 1 })).sort()).toEqual(['nope', 'priority', 'type']);
  });
});

describe('the key of the header', () => {
  it('stands for the field, in the request and in what is compared', () => {
    const { request: job, sentAs } = withKey(readSubmission({ work_ms: 1 }), 'k');
    expect(job.dedupeKey).toBe('k');
    expect(sentAs).toEqual({ work_ms: 1, dedupe_key: 'k' });
  });

  it('may stand beside the field only when they agree', () => {
    const submission = readSubmission({ work_ms: 1, dedupe_key: 'k' });
    expect(withKey(submission, 'k').request.dedupeKey).toBe('k');
    expect(badFields(() => withKey(submission, 'other'))).toEqual(['dedupe_key']);
  });
});

describe('a batch', () => {
  async function batchFields(body: unknown): Promise<string[]> {
    const outcome = await readBatch(body).catch((error: unknown) => error);
    return badFields(() => {
      if (outcome instanceof Error) throw outcome;
    });
  }

  it('is read in order, both forms mixed', async () => {
    const batch = await readBatch({ jobs: [{ work_ms: 1 }, { type: 't' }] });
    expect(batch.map(({ request: { type } }) => type)).toEqual(['simulated', 't']);
    expect(batch.map(({ sentAs }) => sentAs)).toEqual([{ work_ms: 1 }, { type: 't' }]);
  });

  it('is refused whole, with each bad field and its place', async () => {
    expect(await batchFields({ jobs: [{ work_ms: 1 }, { type: 't', priority: 10 }, null] })).toEqual(['jobs[1].priority', 'jobs[2]']);
  });

  it('may have 10,000 jobs and no more', async () => {
    expect(await batchFields({ jobs: Array.from({ length: 10_000 }, () => ({ type: 't' })) })).toEqual([]);
    expect(await batchFields({ jobs: Array.from({ length: 10_001 }, () => ({ type: 't' })) })).toEqual(['jobs']);
  });

  it('lets the event loop turn while it is read', async () => {
    const reading = readBatch({ jobs: Array.from({ length: 10_000 }, () => ({ type: 't' })) });
    let turns = 0;
    const count = () => void (turns++, turns < 50 && setImmediate(count));
    setImmediate(count);
    await reading;
    expect(turns).toBe(50);
  });

  it.each([
    [undefined, 'body'],
    [[], 'body'],
    [{}, 'jobs'],
    [{ jobs: {} }, 'jobs'],
    [{ jobs: [] }, 'jobs'],
    [{ jobs: [GENERAL], queue: 'q' }, 'queue'],
  ])('%j is refused', async (body, field) => {
    expect(await batchFields(body)).toEqual([field]);
  });
});
