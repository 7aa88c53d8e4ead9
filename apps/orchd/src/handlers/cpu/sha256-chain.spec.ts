import { describe, expect, it } from '@jest/globals';
import type { Job, JobContext } from '@orchd/queue';
import { createHash } from 'node:crypto';
import type { CpuPayloadDto } from '../../http/dto/cpu-payload.dto.js';
import { handle } from './cpu.thread.js';
import { Sha256Chain } from './sha256-chain.js';

/** The definition, by another implementation. */
function chainOf(seed: string, rounds: number): string {
  let digest = createHash('sha256').update(seed, 'utf8').digest();
  for (let i = 1; i < rounds; i++) digest = createHash('sha256').update(digest).digest();
  return digest.toString('hex');
}

function run(payload: CpuPayloadDto) {
  const controller = new AbortController();
  const calls = { beats: 0, abortAt: Infinity };
  const ctx = {
    signal: controller.signal,
    heartbeat: () => void (++calls.beats >= calls.abortAt && controller.abort(new Error('over'))),
    progress: () => undefined,
  } as unknown as JobContext;
  return { calls, handle: () => handle({ payload } as Job<CpuPayloadDto>, ctx) };
}

describe('A chain of SHA-256', () => {
  it('is what node:crypto says, for a thousand seeds', () => {
    const chain = new Sha256Chain();
    for (let i = 0; i < 1000; i++) {
      const seed = createHash('sha256').update(String(i)).digest('base64');
      chain.begin(seed);
      chain.advance(2);
      expect(chain.digest()).toBe(chainOf(seed, 3));
    }
  });

  it('goes on where it was, whatever the slices', () => {
    const chain = new Sha256Chain();
    chain.begin('orchd');
    for (const slice of [1, 7, 100, 891]) chain.advance(slice);
    expect(chain.digest()).toBe(chainOf('orchd', 1000));
  });
});

describe('A cpu job', () => {
  it.each([
    [1, 'orchd'],
    [2, 'orchd'],
    [2001, 'orchd'],
    [5000, 'h\u00e9llo'],
    [3, undefined],
  ])('of %d rounds over the seed %p has the last digest as its result', (rounds, seed) => {
    expect(run({ rounds, seed }).handle()).toBe(chainOf(seed ?? '', rounds));
  });

  it('beats from inside of its loop', () => {
    const job = run({ rounds: 100_001 });
    job.handle();
    expect(job.calls.beats).toBe(50);
  });

  it('ends within a slice when its signal has fired', () => {
    const job = run({ rounds: 1_000_000_000 });
    job.calls.abortAt = 3;
    expect(job.handle).toThrow('over');
    expect(job.calls.beats).toBe(3);
  });
});
