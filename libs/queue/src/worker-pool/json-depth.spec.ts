import { isDeeperThan } from './json-depth.js';

describe('isDeeperThan', () => {
  it.each([
    ['1', 0, false],
    ['[]', 0, true],
    ['[]', 1, false],
    ['[{"a":[1]},[2]]', 3, false],
    ['[{"a":[1]},[2]]', 2, true],
    ['["[[[", {"{\\"[": "\\\\"}]', 2, false],
    ['["\\\\", [[]]]', 2, true],
  ])('of %s and %i levels is %s', (json, levels, expected) => {
    expect(isDeeperThan(levels, json)).toBe(expected);
  });

  it('reads what no parser could', () => {
    expect(isDeeperThan(1000, '['.repeat(1_000_000))).toBe(true);
  });
});
