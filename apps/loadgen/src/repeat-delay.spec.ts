import { repeatDelayMs } from './repeat-delay.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');

describe('repeatDelayMs', () => {
  it('doubles from 10 ms and stays at 250 ms', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 100, 5000].map((failures) => repeatDelayMs(failures, undefined, 0, NOW));

    expect(delays).toEqual([10, 20, 40, 80, 160, 250, 250, 250, 250]);
  });

  it('adds up to half of the delay, at the cap too', () => {
    expect(repeatDelayMs(1, undefined, 0.5, NOW)).toBe(12.5);
    expect(repeatDelayMs(50, undefined, 1, NOW)).toBe(375);
  });

  it('takes the seconds or the date that the server asks for', () => {
    expect(repeatDelayMs(1, '3', 0.5, NOW)).toBe(3000);
    expect(repeatDelayMs(1, 'Thu, 01 Jan 2026 00:00:02 GMT', 0.5, NOW)).toBe(2000);
  });

  it('never repeats without any pause, whatever the server asks for', () => {
    expect(repeatDelayMs(1, '0', 0, NOW)).toBe(10);
    expect(repeatDelayMs(1, 'Wed, 31 Dec 2025 00:00:00 GMT', 0, NOW)).toBe(10);
  });

  it('ignores what is neither seconds nor a date', () => {
    expect(repeatDelayMs(2, 'soon', 0, NOW)).toBe(20);
  });
});
