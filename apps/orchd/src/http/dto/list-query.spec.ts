import { describe, expect, it } from '@jest/globals';
import { readListQuery } from './list-query.dto.js';

function badFields(query: Record<string, unknown>): string[] {
  const problems = new Map<string, string>();
  readListQuery(query, problems);
  return [...problems.keys()];
}

describe('the query of a list', () => {
  it('is read with its page length as a number', () => {
    const query = { state: 'dead', queue: 'q', type: 't', limit: '1000', cursor: 'a1' };
    expect(readListQuery(query, new Map())).toEqual({ state: 'dead', queue: 'q', type: 't', limit: 1000, cursor: 'a1' });
  });

  it.each([
    ['state', 'running'],
    ['state', ''],
    ['state', ['done', 'dead']],
    ['queue', 'a/b'],
    ['type', '1'],
    ['cursor', '../'],
    ['cursor', 'a\0'],
    ['limit', '0'],
    ['limit', '1001'],
    ['limit', '-1'],
    ['limit', '1.5'],
    ['limit', '0x10'],
    ['limit', ''],
    ['limit', '1e2'],
    ['limit', '9'.repeat(30)],
    ['limit', ['1', '2']],
    ['nope', '1'],
    ['constructor', '1'],
    ['__proto__', '1'],
  ])('is refused with %s = %j', (name, value) => {
    expect(badFields(Object.fromEntries([[name, value]]))).toEqual([name]);
  });
});
