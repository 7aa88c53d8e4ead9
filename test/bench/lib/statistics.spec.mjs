import { describe, expect, it } from '@jest/globals';
import { halfWidth95, mean, median, percentile, studentT } from './statistics.mjs';

describe('statistics', () => {
  it.each([
    [1, 12.706],
    [4, 2.776],
    [30, 2.042],
    [31, 2.0395],
    [60, 2.0003],
    [1000, 1.9623],
  ])("knows Student's t for %d degrees of freedom", (degrees, t) => {
    expect(studentT(degrees)).toBeCloseTo(t, 3);
  });

  it('goes on smoothly where its table ends', () => {
    expect(studentT(30) - studentT(31)).toBeGreaterThan(0);
    expect(studentT(30) - studentT(31)).toBeLessThan(0.004);
  });

  it('gives the interval of a worked example: 754.4 +/- 6.0 of three runs', () => {
    const runs = [752, 754.2, 757];
    expect(mean(runs)).toBeCloseTo(754.4, 1);
    expect(halfWidth95(runs)).toBeCloseTo((4.303 * 2.506) / Math.sqrt(3), 2);
  });

  it('gives equal values an interval of no width, and a single value none', () => {
    expect(halfWidth95([5, 5, 5])).toBe(0);
    expect(halfWidth95([5])).toBeNull();
  });

  it('finds the median of an even and of an odd number of values, in any order', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([9, 1, 5])).toBe(5);
  });

  it('sorts by number, not by text', () => {
    expect(median([100, 9, 20])).toBe(20);
  });

  it('finds percentiles between two ranks', () => {
    const values = Array.from({ length: 101 }, (_, i) => i);
    expect(percentile(values, 99)).toBe(99);
    expect(percentile([0, 10], 25)).toBe(2.5);
    expect(percentile([7], 99)).toBe(7);
  });

  it('leaves its argument as it was', () => {
    const values = [3, 1, 2];
    median(values);
    expect(values).toEqual([3, 1, 2]);
  });

  it.each([mean, median, halfWidth95])('refuses to speak about no values (%p)', (figure) => {
    expect(() => figure([])).toThrow(RangeError);
  });
});
