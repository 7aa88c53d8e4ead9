import { beforeAll, describe, expect, it } from '@jest/globals';
import { ServiceFixture, type Answer, type ServiceProcess } from './harness/index.js';

interface ErrorBody {
  readonly statusCode: number;
  readonly code: string;
  readonly message: string;
  readonly fields?: Readonly<Record<string, string>>;
}

const MIB = 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
const orchd = new ServiceFixture('file');
let service: ServiceProcess;
let before: Record<string, unknown>;

beforeAll(async () => {
  service = await orchd.start({ storage: 'memory' });
  before = await stats();
});

async function stats(): Promise<Record<string, unknown>> {
  const { body } = await service.call<Record<string, unknown>>('GET', '/stats');
  return { ...body, uptime_s: 0 };
}

/** Every refusal has the one shape, tells no stack, and leaves no trace: neither in the counts nor in the log. */
async function expectRefused(answer: Answer<unknown>, status: number, field?: string): Promise<void> {
  const body = answer.body as ErrorBody;
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(Object.keys(body).sort()).toEqual(body.fields ? ['code', 'fields', 'message', 'statusCode'] : ['code', 'message', 'statusCode']);
  expect(body.statusCode).toBe(status);
  expect(JSON.stringify(body)).not.toMatch(/node_modules|\.js:\d|FST_/);
  if (field !== undefined) expect(Object.keys(body.fields ?? {})).toContain(field);
  expect(await stats()).toEqual(before);
  expect(service.log.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
}

const post = (body: string, headers = {}, path = '/jobs') => service.call('POST', path, { body, headers: { ...JSON_TYPE, ...headers } });

/** As they stand in the body: some of them no JSON library would write. */
const WRONG = ['null', 'true', '"3"', '[]', '{}', '-1', '1e999', '-1e999', '9007199254740993', '1e400'];
const WRONG_INTEGERS = [...WRONG, '1.5', '0.1'];
const WRONG_NAMES = [
  'null',
  '1',
  'true',
  '[]',
  '{}',
  '""',
  '" "',
  '"../../etc/passwd"',
  '"a\\u0000b"',
  '"__proto__"',
  '"ä"',
  `"${'a'.repeat(10_000)}"`,
];

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  id: WRONG_NAMES,
  type: [...WRONG_NAMES, '"nobody.does.this"', '"constructor"', '"toString"'],
  queue: [...WRONG_NAMES, '"constructor"', '"unserved"'],
  priority: [...WRONG_INTEGERS, '10'],
  delay_ms: [...WRONG_INTEGERS, '3155760000001'],
  run_at: WRONG_INTEGERS,
  max_attempts: [...WRONG_INTEGERS, '0', '1001', '1000000000'],
  max_requeues: [...WRONG_INTEGERS, '1001'],
  timeout_ms: [...WRONG_INTEGERS, '86400001'],
  backoff: ['null', '1', '"x"', '[]', '[{}]'],
  dedupe_key: ['null', '1', 'true', '[]', '{}', '""', '"\\ud800"', `"${'k'.repeat(256)}"`],
  payload: ['1e999', '{"a":[1e999]}', `${'['.repeat(101)}${']'.repeat(101)}`, `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
};

describe('POST /jobs refuses', () => {
  it.each(Object.keys(FIELDS))('every wrong %s with 400 and its name', async (field) => {
    for (const value of FIELDS[field]!) {
      const others = field === 'type' ? '' : '"type":"simulated",';
      await expectRefused(await post(`{${others}"${field}":${value}}`), 400, field);
    }
  });

  it.each(['base_ms', 'cap_ms'])('every wrong backoff.%s', async (field) => {
    for (const value of [...WRONG_INTEGERS, '86400001']) {
      await expectRefused(await post(`{"type":"simulated","backoff":{"${field}":${value}}}`), 400, `backoff.${field}`);
    }
  });

  it.each(['work_ms', 'fail_prob', 'hang_prob'])('every wrong %s, in the short form and in the payload', async (field) => {
    for (const value of [...WRONG, field === 'work_ms' ? '86400001' : '1.01']) {
      await expectRefused(await post(`{"${field}":${value}}`), 400, field);
      await expectRefused(await post(`{"type":"simulated","payload":{"${field}":${value}}}`), 400, `payload.${field}`);
    }
  });

  it.each(['nope', 'constructor', 'hasOwnProperty', 'toString', '__defineGetter__', ''])('the unknown field %j', async (field) => {
    await expectRefused(await post(`{"type":"simulated","${field}":{"x":1}}`), 400, field);
    await expectRefused(await post(`{"work_ms":1,"${field}":1}`), 400, field);
  });

  it('fields of both forms, delay_ms beside run_at, and a missing type', async () => {
    await expectRefused(await post('{"work_ms":1,"type":"simulated"}'), 400, 'type');
    await expectRefused(await post('{"work_ms":1,"payload":{}}'), 400, 'payload');
    await expectRefused(await post('{"type":"simulated","delay_ms":1,"run_at":1}'), 400, 'run_at');
    await expectRefused(await post('{}'), 400, 'type');
  });

  it.each([
    '{"__proto__":{"x":1}}',
    '{"type":"simulated","payload":{"__proto__":{"x":1}}}',
    '{"type":"simulated","payload":{"a":[{"\\u005f_proto__":1}]}}',
    '{"type":"simulated","payload":{"constructor":{"prototype":{"x":1}}}}',
  ])('a key that reaches for a prototype: %s', async (body) => {
    await expectRefused(await post(body), 400, 'body');
  });

  it.each([
    '',
    '{',
    '[',
    'nul',
    '{"a":NaN}',
    '{"a":Infinity}',
    "{'a':1}",
    '{"a":1,}',
    '{}{}',
    '\u0000',
    '[{}]',
    '"text"',
    '1',
    'null',
    'true',
  ])('a body that is no JSON object: %j', async (body) => {
    await expectRefused(await post(body), 400, 'body');
  });

  it('a body that is not UTF-8, and no body at all', async () => {
    const body = Buffer.concat([Buffer.from('{"type":"simulated","dedupe_key":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    await expectRefused(await service.call('POST', '/jobs', { body, headers: JSON_TYPE }), 400, 'body');
    await expectRefused(await service.call('POST', '/jobs'), 400, 'body');
  });

  it.each([
    ['empty', ''],
    ['too long', 'k'.repeat(256)],
    ['not ASCII', 'k\u00e4'],
  ])('an Idempotency-Key that is %s', async (_what, key) => {
    await expectRefused(await post('{"work_ms":1}', { 'idempotency-key': key }), 400, 'Idempotency-Key');
  });

  it('an Idempotency-Key that stands twice or differs from dedupe_key', async () => {
    await expectRefused(await post('{"work_ms":1}', { 'idempotency-key': ['a', 'a'] }), 400, 'Idempotency-Key');
    await expectRefused(await post('{"work_ms":1,"dedupe_key":"a"}', { 'idempotency-key': 'b' }), 400, 'dedupe_key');
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml', 'nonsense'])(
    'the content type %s with 415',
    async (type) => {
      await expectRefused(await post('{"work_ms":1}', { 'content-type': type }), 415);
    },
  );

  it('an encoded body with 415, however small it says to be', async () => {
    await expectRefused(await post('{"work_ms":1}', { 'content-encoding': 'gzip' }), 415);
  });
});

describe('POST /jobs/batch refuses', () => {
  const batch = (body: string, headers = {}) => post(body, headers, '/jobs/batch');

  it('the whole batch for one bad job, and tells which', async () => {
    await expectRefused(await batch('{"jobs":[{"work_ms":1},{"type":"simulated","priority":10}]}'), 400, 'jobs[1].priority');
    await expectRefused(await batch('{"jobs":[{"work_ms":1},7]}'), 400, 'jobs[1]');
    await expectRefused(await batch('{"jobs":[{"work_ms":1},{"type":"nobody.does.this"}]}'), 400, 'jobs[1].type');
  });

  it.each([
    ['{}', 'jobs'],
    ['{"jobs":[]}', 'jobs'],
    ['{"jobs":{}}', 'jobs'],
    ['{"jobs":null}', 'jobs'],
    ['[]', 'body'],
    ['{"jobs":[{"work_ms":1}],"queue":"default"}', 'queue'],
  ])('%s', async (body, field) => {
    await expectRefused(await batch(body), 400, field);
  });

  it('more than 10,000 jobs', async () => {
    await expectRefused(await batch(`{"jobs":[${'{"work_ms":1},'.repeat(10_000)}{"work_ms":1}]}`), 400, 'jobs');
  });

  it('equal ids or keys with unequal bodies, with 409', async () => {
    await expectRefused(await batch('{"jobs":[{"id":"a","work_ms":1},{"id":"a","work_ms":2}]}'), 409);
    await expectRefused(await batch('{"jobs":[{"dedupe_key":"a","work_ms":1},{"dedupe_key":"a","work_ms":2}]}'), 409);
  });

  it('an Idempotency-Key', async () => {
    await expectRefused(await batch('{"jobs":[{"work_ms":1}]}', { 'idempotency-key': 'k' }), 400, 'Idempotency-Key');
  });
});

describe('a body above the limit is refused with 413', () => {
  it.each([
    ['/jobs', MIB],
    ['/jobs/batch', 16 * MIB],
  ])('%s above %d bytes, and not below', async (path, limit) => {
    const sized = (bytes: number) => `{"jobs":"${'x'.repeat(bytes - '{"jobs":""}'.length)}"}`;
    await expectRefused(await post(sized(limit), {}, path), 400, 'jobs');
    await expectRefused(await post(sized(limit + 1), {}, path), 413);
  });

  it('without waiting for a body that says to be larger', async () => {
    const head = { ...JSON_TYPE, 'content-length': String(100 * MIB), expect: '100-continue' };
    await expectRefused(await service.call('POST', '/jobs', { headers: head, body: '' }), 413);
  });

  it('at the limit when it does not say how large it is', async () => {
    await expectRefused(await post('x'.repeat(2 * MIB), { 'transfer-encoding': 'chunked', 'content-length': [] }), 413);
  });
});

describe('an address', () => {
  it.each(['/', '/nope', '/jobs/', '/jobs/a/b', '/jobs/a/redrive/b', '/Jobs', '/jobs/../stats', '/stats/'])(
    '%s is unknown: 404',
    async (path) => {
      await expectRefused(await service.call('GET', path), 404);
    },
  );

  it.each([
    ['PUT', '/jobs', 'GET, HEAD, POST'],
    ['DELETE', '/jobs', 'GET, HEAD, POST'],
    ['PATCH', '/jobs/a', 'DELETE, GET, HEAD'],
    ['GET', '/jobs/a/redrive', 'POST'],
    ['POST', '/stats', 'GET, HEAD'],
    ['DELETE', '/healthz', 'GET, HEAD'],
    ['OPTIONS', '/jobs', 'GET, HEAD, POST'],
  ])('does not answer to %s %s: 405, and says to what', async (method, path, allow) => {
    const answer = await service.call(method, path);
    await expectRefused(answer, 405);
    expect(answer.headers.allow).toBe(allow);
  });

  it.each(['..%2f..%2fetc%2fpasswd', '%00', 'a%00b', '%20', '-a', 'ä', '__proto__', 'a'.repeat(129), 'a'.repeat(10_000)])(
    '/jobs/%s has a bad id: 400 for every call',
    async (id) => {
      const path = `/jobs/${id === 'ä' ? encodeURIComponent(id) : id}`;
      await expectRefused(await service.call('GET', path), 400, 'id');
      await expectRefused(await service.call('DELETE', path), 400, 'id');
      await expectRefused(await service.call('POST', `${path}/redrive`), 400, 'id');
    },
  );

  it('with a broken escape is malformed: 400', async () => {
    await expectRefused(await service.call('GET', '/jobs/%zz'), 400);
    await expectRefused(await service.call('GET', '/jobs/%c3%28'), 400);
  });

  it.each([
    ['state=running', 'state'],
    ['state=done&state=dead', 'state'],
    ['queue=a/b', 'queue'],
    ['type=1', 'type'],
    ['cursor=../', 'cursor'],
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=1e2', 'limit'],
    ['limit=', 'limit'],
    ['nope=1', 'nope'],
    ['__proto__=1', '__proto__'],
    ['constructor=1', 'constructor'],
  ])('/jobs?%s is refused by name', async (query, field) => {
    await expectRefused(await service.call('GET', `/jobs?${query}`), 400, field);
  });
});
