import { ManualClock } from '@orchd/storage/testing';
import { turns } from '../worker-pool/pool.fixture.js';
import { PeriodicService } from './periodic-service.js';

class Probe extends PeriodicService {
  protected readonly name = 'probe';
  override jitter = 0;
  readonly lateness: number[] = [];
  signal: AbortSignal | null = null;
  work: (() => void | Promise<void>) | null = null;

  protected intervalMs(): number {
    return 100;
  }

  protected tick(signal: AbortSignal, lateMs: number): void | Promise<void> {
    this.signal = signal;
    this.lateness.push(lateMs);
    return this.work?.();
  }

  get ticks(): number {
    return this.lateness.length;
  }
}

class SleepyClock extends ManualClock {
  slept = 0;
  override monoMs(): number {
    return super.monoMs() + this.slept;
  }
}

describe('PeriodicService', () => {
  let clock: SleepyClock;
  let logged: string[];
  let probe: Probe;

  beforeEach(() => {
    clock = new SleepyClock();
    logged = [];
    const log = { debug: () => undefined, warn: (line: string) => void logged.push(line), error: () => undefined };
    probe = new Probe({ clock, log, random: () => 0.5 });
  });

  it('ticks after each interval, from start to stop', async () => {
    clock.advance(1000);
    expect(probe.ticks).toBe(0);
    probe.start();
    probe.start();
    clock.advance(1000);
    expect(probe.ticks).toBe(10);
    await probe.stop();
    clock.advance(1000);
    expect(probe.ticks).toBe(10);
    expect(clock.pendingTimers).toBe(0);
  });

  it('may be stopped before start, twice, and started again', async () => {
    await probe.stop();
    probe.start();
    await Promise.all([probe.stop(), probe.stop()]);
    probe.start();
    clock.advance(100);
    expect(probe.ticks).toBe(1);
    await probe.stop();
  });

  it('never runs two ticks at once, not after a restart either', async () => {
    let finish!: () => void;
    probe.work = () => new Promise((resolve) => (finish = resolve));
    probe.start();
    clock.advance(1000);
    expect(probe.ticks).toBe(1);
    void probe.stop();
    probe.start();
    clock.advance(1000);
    expect(probe.ticks).toBe(1);
    finish();
    await turns();
    clock.advance(100);
    expect(probe.ticks).toBe(2);
    finish();
    await probe.stop();
  });

  it('tells a running tick to end, and waits for it, when it is stopped', async () => {
    let finish!: () => void;
    probe.work = () => new Promise((resolve) => (finish = resolve));
    probe.start();
    clock.advance(100);
    let stopped = false;
    const stopping = probe.stop().then(() => (stopped = true));
    expect(probe.signal!.aborted).toBe(true);
    await turns();
    expect(stopped).toBe(false);
    finish();
    await stopping;
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('oops');
      },
    ],
    ['rejects', () => Promise.reject(new Error('oops'))],
  ])('logs a tick that %s, and the next one comes', async (_title, work) => {
    probe.work = work;
    probe.start();
    clock.advance(100);
    await turns();
    clock.advance(100);
    await turns();
    expect(logged).toEqual(['probe: oops', 'probe: oops']);
    await probe.stop();
  });

  it('says by how much it overslept', async () => {
    probe.start();
    clock.advance(100);
    clock.slept = 5000;
    clock.advance(100);
    expect(probe.lateness).toEqual([0, 5000]);
    await probe.stop();
  });

  it('spreads its ticks by its jitter', async () => {
    probe.jitter = 0.5;
    probe.start();
    clock.advance(124);
    expect(probe.ticks).toBe(0);
    clock.advance(1);
    expect(probe.ticks).toBe(1);
    await probe.stop();
  });
});
