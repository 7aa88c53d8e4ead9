import type { Job, JobContext } from '@orchd/queue';
import type { CpuPayloadDto } from '../../http/dto/cpu-payload.dto.js';
import { Sha256Chain } from './sha256-chain.js';

/*
 * Loaded by each thread that runs `cpu` jobs: types apart, nothing but the chain.
 */

/** Rounds between two beats: about half a millisecond, and some ten while the code is not compiled yet. */
const ROUNDS_PER_BEAT = 2000;
/** A job that takes longer tells how far it is. */
const PROGRESS_MS = 1000;

const chain = new Sha256Chain();

/** The last digest of the chain, in hex. */
export function handle({ payload: { rounds, seed = '' } }: Job<CpuPayloadDto>, ctx: JobContext): string {
  let toldMs = performance.now();
  chain.begin(seed);
  for (let done = 1; done < rounds;) {
    const slice = Math.min(ROUNDS_PER_BEAT, rounds - done);
    chain.advance(slice);
    done += slice;
    ctx.heartbeat();
    ctx.signal.throwIfAborted();
    if (performance.now() - toldMs < PROGRESS_MS) continue;
    toldMs = performance.now();
    ctx.progress((done / rounds) * 100, `${done} of ${rounds} rounds`);
  }
  return chain.digest();
}
