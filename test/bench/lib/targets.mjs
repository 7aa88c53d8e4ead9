// A figure beside what it should be. Missing a target is a result, not an error: it is printed and counted.
import { shown } from './format.mjs';

/** @param unit stands behind both numbers; @param digits behind the point */
export function atLeast(figure, value, target, { unit = '', digits = 2 } = {}) {
  return compared({ figure, value, wanted: `>= ${shown(target, digits, unit)}`, met: value >= target, unit, digits });
}

export function atMost(figure, value, target, { unit = '', digits = 2 } = {}) {
  return compared({ figure, value, wanted: `<= ${shown(target, digits, unit)}`, met: value <= target, unit, digits });
}

export function below(figure, value, target, { unit = '', digits = 2 } = {}) {
  return compared({ figure, value, wanted: `< ${shown(target, digits, unit)}`, met: value < target, unit, digits });
}

export function within(figure, value, center, tolerance, { unit = '', digits = 2 } = {}) {
  const wanted = `${shown(center, digits, '')} +/- ${shown(tolerance, digits, unit)}`;
  return compared({ figure, value, wanted, met: Math.abs(value - center) <= tolerance, unit, digits });
}

export function exactly(figure, value, target, { unit = '', digits = 0 } = {}) {
  return compared({ figure, value, wanted: shown(target, digits, unit), met: value === target, unit, digits });
}

/** A target that no number can be held against is missed: NaN meets nothing. */
function compared({ figure, value, wanted, met, unit, digits }) {
  return { figure, value, measured: shown(value, digits, unit), wanted, verdict: met ? 'met' : 'missed' };
}
