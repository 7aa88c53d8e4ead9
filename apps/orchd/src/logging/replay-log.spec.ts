import { describe, expect, it } from '@jest/globals';
import type { Clock } from '@orchd/storage';
import { replayLog } from './replay-log.js';

describe('the progress of a replay', () => {
  it('is told once a second', () => {
    let now = 0;
    const clock = { monoMs: () => now } as Clock;
    const told: unknown[] = [];
    const tell = replayLog({ info: (fields: unknown) => void told.push(fields) }, clock);
    for (now = 0; now <= 2500; now += 100) tell(now, 3000);
    expect(told).toEqual([
      { done: 1000, total: 3000, percent: 33 },
      { done: 2000, total: 3000, percent: 66 },
    ]);
  });
});
