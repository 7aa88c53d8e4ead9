import { describe, expect, it } from '@jest/globals';
import type { Job, JobContext } from '@orchd/queue';
import type { Clock } from '@orchd/storage';
import type { SimulatedPayloadDto } from '../http/dto/simulated-payload.dto.js';
import { SimulatedHandler } from './simulated.handler.js';

/** Time moves only when it is told to. */
class ManualClock implements Clock {
  #now = 0;
  #timers: { readonly at: number; readonly callback: () => void }[] = [];

  wallMs = () => this.#now;
  monoMs = () => this.#now;

  setTimer(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.push(timer);
    return () => void (this.#timers = this.#timers.filter((other) => other !== timer));
  }

  get timers(): number {
    return this.#timers.length;
  }

  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#now = next.at;
      next.callback();
    }
    this.#now = until;
  }
}

type Outcome = 'pending' | 'done' | Error;

function setup(random: () => number = () => 0.5) {
  const clock = new ManualClock();
  const handler = new SimulatedHandler(clock, random);
  const run = (payload: SimulatedPayloadDto | null) => {
    const abort = new AbortController();
    const delivery = { beats: 0, outcome: 'pending' as Outcome, abort: (reason: Error) => abort.abort(reason) };
    const ctx = { signal: abort.signal, heartbeat: () => delivery.beats++ } as unknown as JobContext;
    const settled = async () => handler.handle({ payload } as Job<SimulatedPayloadDto | null>, ctx);
    settled().then(
      () => (delivery.outcome = 'done'),
      (error: Error) => (delivery.outcome = error),
    );
    return delivery;
  };
  /** Lets promises that are settled tell so. */
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { clock, run, turn };
}

describe('a simulated job', () => {
  it('is done at the end of its work, not before', async () => {
    const { clock, run, turn } = setup();
    const job = run({ work_ms: 25 });
    clock.advance(24);
    await turn();
    expect(job.outcome).toBe('pending');
    clock.advance(1);
    await turn();
    expect(job.outcome).toBe('done');
  });

  it('is done at once when it has no work, with an empty payload too', async () => {
    const { run, turn } = setup();
    const jobs = [run({ work_ms: 0 }), run({}), run(null)];
    await turn();
    expect(jobs.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done']);
  });

  it('beats every 10 ms while it works and never after', () => {
    const { clock, run } = setup();
    const job = run({ work_ms: 100 });
    clock.advance(55);
    expect(job.beats).toBe(5);
    clock.advance(1000);
    expect(job.beats).toBeLessThanOrEqual(10);
  });

  it.each([
    [0.19, 'fails'],
    [0.2, 'does not fail'],
  ])('with fail_prob 0.2 and the random number %d %s, after its work', async (random, verdict) => {
    const { clock, run, turn } = setup(() => random);
    const job = run({ work_ms: 10, fail_prob: 0.2 });
    await turn();
    expect(job.outcome).toBe('pending');
    clock.advance(10);
    await turn();
    if (verdict === 'fails') expect(job.outcome).toBeInstanceOf(Error);
    else expect(job.outcome).toBe('done');
  });

  it('that hangs never settles and never beats, whatever its signal says', async () => {
    const { clock, run, turn } = setup(() => 0);
    const job = run({ work_ms: 10, hang_prob: 0.01 });
    clock.advance(100_000);
    job.abort(new Error('hung'));
    clock.advance(100_000);
    await turn();
    expect(job).toMatchObject({ outcome: 'pending', beats: 0 });
    expect(clock.timers).toBe(0);
  });

  it('ends with the reason of its signal within a beat', async () => {
    const { clock, run, turn } = setup();
    const job = run({ work_ms: 1000 });
    const reason = new Error('cancelled');
    clock.advance(15);
    job.abort(reason);
    clock.advance(10);
    await turn();
    expect(job.outcome).toBe(reason);
  });

  it('shares one timer for the beats with all others, and leaves none behind', () => {
    const { clock, run } = setup();
    const jobs = Array.from({ length: 50 }, () => run({ work_ms: 40 }));
    expect(clock.timers).toBe(51);
    clock.advance(35);
    expect(jobs.map(({ beats }) => beats)).toEqual(jobs.map(() => 3));
    clock.advance(100);
    expect(clock.timers).toBe(0);
  });
});
