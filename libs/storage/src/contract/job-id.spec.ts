import { describe, expect, it } from '@jest/globals';
import { jobIdSource } from './job-id.js';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const AT_MS = 1_800_000_000_000;

function ids(count: number, wallMs: () => number): string[] {
  const next = jobIdSource(wallMs);
  return Array.from({ length: count }, next);
}

describe('job ids', () => {
  it('are UUIDs of version 7 that begin with their millisecond', () => {
    for (const id of ids(1000, () => AT_MS)) {
      expect(id).toMatch(UUID_V7);
      expect(parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(AT_MS);
    }
  });

  it.each([
    ['stands still', () => AT_MS],
    ['goes back', (n: number) => AT_MS - n],
    ['goes on', (n: number) => AT_MS + Math.floor(n / 7)],
  ])('are unique and rise, while the clock %s', (_what, wallMs) => {
    let n = 0;
    const made = ids(20_000, () => wallMs(n++));
    expect(new Set(made).size).toBe(made.length);
    expect([...made].sort()).toEqual(made);
  });

  it('of two sources at the same moment differ', () => {
    const both = [...ids(1000, () => AT_MS), ...ids(1000, () => AT_MS)];
    expect(new Set(both).size).toBe(2000);
  });
});
