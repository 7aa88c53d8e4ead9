import { LIMITS } from '../../contract/index.js';
import { ManualClock } from '../../testing/index.js';
import { HeldLeases } from './held-leases.js';

const LEASE = { id: 'job', epoch: 7 };
const HALF = { percent: 50, note: null };

function held(): { clock: ManualClock; leases: HeldLeases } {
  const clock = new ManualClock();
  const leases = new HeldLeases(clock);
  leases.add(LEASE, 1000, clock.monoMs());
  return { clock, leases };
}

describe('HeldLeases', () => {
  it('knows a lease by its epoch, until it ends', () => {
    const { leases } = held();
    expect([leases.has(LEASE), leases.has({ id: 'job', epoch: 6 }), leases.has({ id: 'other', epoch: 7 })]).toEqual([true, false, false]);
    leases.ended({ id: 'job', epoch: 6 });
    expect(leases.has(LEASE)).toBe(true);
    leases.ended(LEASE);
    expect(leases.has(LEASE)).toBe(false);
  });

  it('forgets a lease that nobody ended or prolonged, long after its end', () => {
    const { clock, leases } = held();
    clock.advance(1999);
    leases.sweep();
    expect(leases.has(LEASE)).toBe(true);
    leases.extended(LEASE, 1000, clock.monoMs());
    clock.advance(1999);
    leases.sweep();
    expect(leases.has(LEASE)).toBe(true);
    clock.advance(2);
    leases.sweep();
    expect(leases.has(LEASE)).toBe(false);
  });

  it('tells the longest lease that was asked for', () => {
    const { clock, leases } = held();
    expect(leases.leaseMs).toBe(1000);
    leases.add({ id: 'long', epoch: 1 }, 5000, clock.monoMs());
    leases.add({ id: 'short', epoch: 1 }, 10, clock.monoMs());
    expect(leases.leaseMs).toBe(5000);
  });

  it('lets one note through a second, and adds up what comes meanwhile (H15)', () => {
    const { clock, leases } = held();
    expect(leases.note(LEASE, HALF, ['one'])).toEqual({ progress: HALF, log: ['one'] });
    expect(leases.note(LEASE, undefined, ['two'])).toBeNull();
    expect(leases.note(LEASE, { percent: 60, note: 'n' }, ['three'])).toBeNull();
    expect(leases.noted()).toEqual([LEASE]);
    clock.advance(1000);
    expect(leases.note(LEASE, undefined)).toEqual({ progress: { percent: 60, note: 'n' }, log: ['two', 'three'] });
    expect(leases.noted()).toEqual([]);
  });

  it('gives out the note that waits when the delivery ends, once', () => {
    const { leases } = held();
    leases.note(LEASE, HALF);
    leases.note(LEASE, undefined, ['last words']);
    expect(leases.takeNote(LEASE)).toEqual({ progress: null, log: ['last words'] });
    expect(leases.takeNote(LEASE)).toBeNull();
  });

  it('keeps the last lines, each cut, of however many', () => {
    const { leases } = held();
    leases.note(LEASE, HALF);
    for (let i = 0; i < 100; i++) leases.note(LEASE, undefined, [`${i} ${'x'.repeat(LIMITS.logLine)}`]);
    const { log } = leases.takeNote(LEASE)!;
    expect(log).toHaveLength(LIMITS.logLines);
    expect(log[0]!.startsWith('80 x')).toBe(true);
    for (const line of log) expect(line).toHaveLength(LIMITS.logLine);
  });

  it('passes the notes of a lease that it does not know straight on', () => {
    const { leases } = held();
    const other = { id: 'other', epoch: 1 };
    expect(leases.note(other, HALF, ['line'])).toEqual({ progress: HALF, log: ['line'] });
    expect(leases.note(other, undefined)).toBeNull();
  });
});
