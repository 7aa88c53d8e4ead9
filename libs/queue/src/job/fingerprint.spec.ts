import { canonicalJson, fingerprintOf } from './fingerprint.js';

describe('fingerprintOf', () => {
  it('is the same for the same members in another order, at every depth', () => {
    expect(fingerprintOf({ a: 1, b: { c: [1, { d: 2, e: 3 }], f: null } })).toBe(
      fingerprintOf({ b: { f: null, c: [1, { e: 3, d: 2 }] }, a: 1 }),
    );
  });

  it('is the same with members that are undefined', () => {
    expect(fingerprintOf({ a: 1, b: undefined })).toBe(fingerprintOf({ a: 1 }));
  });

  it.each([
    [{ a: 1 }, { a: '1' }],
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{ a: null }, {}],
    [{ a: { b: 1 } }, { 'a.b': 1 }],
    [{ a: [] }, { a: {} }],
    [{ type: 'x', priority: 5 }, { type: 'x' }],
    [JSON.parse('{"__proto__":{"x":1}}'), {}],
    [{ a: 'b","c":"d' }, { a: 'b', c: 'd' }],
  ])('tells %j from %j', (one, other) => {
    expect(fingerprintOf(one)).not.toBe(fingerprintOf(other));
  });

  it('sees values as they are on the wire', () => {
    const at = new Date(0);
    expect(canonicalJson({ b: at, a: [undefined] })).toBe('{"a":[null],"b":"1970-01-01T00:00:00.000Z"}');
  });

  it('carries all 256 bits of the digest', () => {
    expect(Buffer.from(fingerprintOf({}), 'base64url')).toHaveLength(32);
  });
});
