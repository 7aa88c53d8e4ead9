// What a handful of repeated measurements says.

/** t(0.975) for 1 to 30 degrees of freedom: the factor of a two-sided 95 % interval. */
const T_975 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086,
  2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];
const Z_975 = 1.959964;

/** Student's t, two-sided 95 %. Beyond the table by the first two terms of its expansion around the normal (Abramowitz & Stegun 26.7.5). */
export function studentT(degreesOfFreedom) {
  const n = degreesOfFreedom;
  if (!Number.isInteger(n) || n < 1) throw new RangeError(`degrees of freedom must be a positive integer, not ${n}`);
  const z = Z_975;
  return T_975[n - 1] ?? z + (z ** 3 + z) / (4 * n) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * n ** 2);
}

export function mean(values) {
  assertSome(values);
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Half the width of the 95 % confidence interval of the mean; null for a single value, which says nothing about its spread. */
export function halfWidth95(values) {
  assertSome(values);
  const n = values.length;
  if (n === 1) return null;
  const center = mean(values);
  const variance = values.reduce((sum, value) => sum + (value - center) ** 2, 0) / (n - 1);
  return studentT(n - 1) * Math.sqrt(variance / n);
}

export function median(values) {
  return percentile(values, 50);
}

/** Between the two nearest ranks by linear interpolation. */
export function percentile(values, percent) {
  assertSome(values);
  const sorted = [...values].sort((a, b) => a - b);
  const rank = ((sorted.length - 1) * percent) / 100;
  const below = sorted[Math.floor(rank)];
  const above = sorted[Math.ceil(rank)];
  return below + (above - below) * (rank - Math.floor(rank));
}

function assertSome(values) {
  if (values.length === 0) throw new RangeError('there are no values');
}
