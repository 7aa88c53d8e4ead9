import { describe, expect, it } from '@jest/globals';
import { shown, withInterval } from './format.mjs';

describe('a number for people', () => {
  it('has as many digits as asked for, and its unit', () => {
    expect(shown(81234.567, 1, 'jobs/s')).toBe('81,234.6 jobs/s');
    expect(shown(80, 0)).toBe('80');
  });

  it('stands with its 95 % interval, where it has one', () => {
    expect(withInterval([1, 2, 3], 2)).toBe('2.00 ± 2.48');
    expect(withInterval([48.1], 1)).toBe('48.1');
  });
});
