import { describe, expect, it } from '@jest/globals';
import { atLeast, atMost, below, exactly, within } from './targets.mjs';

const verdict = ({ verdict }) => verdict;

describe('a target', () => {
  it('is met on its very edge', () => {
    expect([atLeast('x', 0.97, 0.97), atMost('x', 1.25, 1.25), within('x', 82, 80, 2), exactly('x', 0, 0)].map(verdict)).toEqual(
      Array(4).fill('met'),
    );
    expect(verdict(below('x', 100, 100))).toBe('missed');
  });

  it('is missed beyond it', () => {
    const missed = [
      atLeast('x', 0.9699, 0.97),
      atMost('x', 1.2501, 1.25),
      within('x', 77.9, 80, 2),
      exactly('x', 1, 0),
      below('x', 101, 100),
    ];
    expect(missed.map(verdict)).toEqual(Array(5).fill('missed'));
  });

  it('is missed by a figure that could not be measured', () => {
    const missed = [atLeast('x', NaN, 1), atMost('x', NaN, 1), within('x', NaN, 1, 1), exactly('x', NaN, 1), below('x', NaN, 1)];
    expect(missed.map(verdict)).toEqual(Array(5).fill('missed'));
  });

  it('is told with its unit, in as many digits as asked for', () => {
    expect(atLeast('no-op jobs', 81234.56, 80_000, { unit: 'jobs/s', digits: 0 })).toMatchObject({
      figure: 'no-op jobs',
      measured: '81,235 jobs/s',
      wanted: '>= 80,000 jobs/s',
    });
    expect(within('x', 80.4, 80, 2, { unit: '%', digits: 1 }).wanted).toBe('80.0 +/- 2.0 %');
  });
});
