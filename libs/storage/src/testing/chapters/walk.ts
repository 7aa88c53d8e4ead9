import type { KitCase, KitChapter } from '../kit-case.js';
import { STEPS, WEIGHTS } from '../walk/steps.js';
import { Walk } from '../walk/walk.js';
import type { Workbench } from '../workbench.js';

const SEEDS = [1, 2, 3, 4];
const STEPS_OF_A_WALK = 2000;
/** Where a step may have to wait for the clock of a server. */
const STEPS_OF_A_SLOW_WALK = 200;

function walkCase(seed: number): KitCase {
  return {
    title: `answers as the model does over ${STEPS_OF_A_WALK} random steps (seed ${seed})`,
    run: (bench: Workbench) =>
      new Walk(bench, seed).run(bench.capabilities.shared ? STEPS_OF_A_SLOW_WALK : STEPS_OF_A_WALK, STEPS, WEIGHTS),
  };
}

/** ORCHD_KIT_SEED walks others: a number, or several with commas. */
function seeds(): readonly number[] {
  const asked = process.env.ORCHD_KIT_SEED;
  return asked === undefined ? SEEDS : asked.split(',').map(Number);
}

export const walk: KitChapter = {
  title: 'a random walk beside the model',
  cases: seeds().map(walkCase),
};
