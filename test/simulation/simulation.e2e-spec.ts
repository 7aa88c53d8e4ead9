import { SimulatedRound } from './simulated-round.js';

const FIRST_SEED = Number(process.env.ORCHD_SIM_SEED ?? 1);
const ROUNDS = Number(process.env.ORCHD_SIM_ROUNDS ?? 2000);
/** The end of a long story is what one looks at. */
const TRACE_LINES = 80;

describe('a simulated queue on a simulated disk', () => {
  it(`keeps every promise in ${ROUNDS} rounds from seed ${FIRST_SEED} on`, async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + ROUNDS; seed++) {
      const round = new SimulatedRound(seed);
      await round.run().catch((cause: unknown) => {
        const story = round.trace.slice(-TRACE_LINES).join('\n  ');
        throw new Error(`seed ${seed} breaks it: ${String(cause)}\n  ${story}\nnpm run simulate -- --seed ${seed} --rounds 1`, { cause });
      });
    }
  }, 600_000);
});
