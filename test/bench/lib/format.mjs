import { halfWidth95, mean } from './statistics.mjs';

/** A number for people: `12,345.6 jobs/s`. */
export function shown(value, digits, unit = '') {
  const number = value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return unit === '' ? number : `${number} ${unit}`;
}

/** `754.4 ± 6.0`: the mean and half of its 95 % confidence interval, which a single value does not have. */
export function withInterval(values, digits) {
  const half = halfWidth95(values);
  return half === null ? shown(mean(values), digits) : `${shown(mean(values), digits)} ± ${shown(half, digits)}`;
}
