import { jest } from '@jest/globals';
import { MAX_TIMER_MS } from '../contract/index.js';
import { ManualClock } from './manual-clock.js';

describe('ManualClock', () => {
  it('stands still until it is moved, and moves both hands together', () => {
    const clock = new ManualClock(1000);
    expect([clock.wallMs(), clock.monoMs()]).toEqual([1000, 0]);
    clock.advance(50);
    expect([clock.wallMs(), clock.monoMs()]).toEqual([1050, 50]);
  });

  it('jumps with the wall hand alone and fires nothing', () => {
    const clock = new ManualClock(1000);
    const fired = jest.fn();
    clock.setTimer(1, fired);
    clock.jumpWall(86_400_000);
    clock.jumpWall(-1);
    expect([clock.wallMs(), clock.monoMs()]).toEqual([86_400_999, 0]);
    expect(fired).not.toHaveBeenCalled();
  });

  it('fires due timers in due order, each at its own time; equal ones in the order in which they were set', () => {
    const clock = new ManualClock();
    const fired: [string, number][] = [];
    for (const [name, ms] of [['c', 30] as const, ['a', 10] as const, ['b1', 20] as const, ['b2', 20] as const, ['late', 41] as const]) {
      clock.setTimer(ms, () => fired.push([name, clock.monoMs()]));
    }
    clock.advance(40);
    expect(fired).toEqual([
      ['a', 10],
      ['b1', 20],
      ['b2', 20],
      ['c', 30],
    ]);
    expect([clock.monoMs(), clock.pendingTimers]).toEqual([40, 1]);
  });

  it('fires on the way what its callbacks set, and not what they cancel', () => {
    const clock = new ManualClock();
    const fired: number[] = [];
    const again = (): void => {
      fired.push(clock.monoMs());
      clock.setTimer(10, again);
    };
    clock.setTimer(10, again);
    const cancelled = jest.fn();
    const cancel = clock.setTimer(15, cancelled);
    clock.setTimer(12, cancel);
    clock.advance(35);
    expect(fired).toEqual([10, 20, 30]);
    expect(cancelled).not.toHaveBeenCalled();
  });

  it('lets a timer of any rest wait a whole millisecond, as the system clock does', () => {
    const clock = new ManualClock();
    const fired = jest.fn();
    clock.setTimer(1e-14, fired);
    clock.advance(0);
    expect(fired).not.toHaveBeenCalled();
    clock.advance(1);
    expect(fired).toHaveBeenCalledTimes(1);
  });

  it('cuts a timer to what Node can hold, as the system clock does', () => {
    const clock = new ManualClock();
    const fired = jest.fn();
    clock.setTimer(1e12, fired);
    clock.advance(MAX_TIMER_MS - 1);
    expect(fired).not.toHaveBeenCalled();
    clock.advance(1);
    expect(fired).toHaveBeenCalledTimes(1);
  });

  it('refuses to go back or to move by a fraction', () => {
    const clock = new ManualClock();
    for (const ms of [-1, 0.5, NaN, Infinity]) expect(() => clock.advance(ms)).toThrow(RangeError);
    for (const ms of [0.5, NaN]) expect(() => clock.jumpWall(ms)).toThrow(RangeError);
  });
});
