import { jest } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { coreWaitMs } from './core-wait.js';
import type { FromInside, InsideSettings } from './inside/protocol.js';
import { Isolate } from './isolate.js';

const HB_MS = 200;

/** One whose last beat and whose thread are whatever the test says. */
class Stopwatch extends Isolate {
  beatAtMs = performance.now() - 50;
  folder = '';

  constructor() {
    const settings = { heartbeatTimeoutMs: HB_MS } as InsideSettings;
    super({ type: 'job' } as never, settings, { message: (_: Isolate, _message: FromInside) => undefined, gone: () => undefined });
  }

  protected ageMs(): number {
    return performance.now() - this.beatAtMs;
  }
  protected task(): string {
    return this.folder;
  }
  protected entering(): void {
    // Nothing to prepare.
  }
  protected end(): void {
    // Nothing to end.
  }
  protected post(): void {
    // Nobody to tell.
  }
}

describe('The wait for a core', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orchd-task-'));
    jest.spyOn(performance, 'now').mockReturnValue(10_000);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    rmSync(folder, { recursive: true });
  });

  const waited = (ms: number): void => writeFileSync(join(folder, 'schedstat'), `12345 ${ms * 1e6} 678\n`);

  /** Ms of the time since the last beat that do not count as silence. */
  function forgiven(watch: Stopwatch): number {
    return performance.now() - watch.beatAtMs - watch.silentMs();
  }

  it('is what the kernel says, and 0 where it says nothing', () => {
    waited(42);
    expect(coreWaitMs(folder)).toBe(42);
    expect(coreWaitMs('')).toBe(0);
    expect(coreWaitMs(join(folder, 'gone'))).toBe(0);
    writeFileSync(join(folder, 'schedstat'), '');
    expect(coreWaitMs(folder)).toBe(0);
  });

  it('is no silence, from the first look after a beat on, and up to one time-out', () => {
    const watch = new Stopwatch();
    watch.folder = folder;
    waited(1000);
    expect(forgiven(watch)).toBe(0);
    waited(1030);
    expect(forgiven(watch)).toBe(30);
    waited(5000);
    expect(forgiven(watch)).toBe(HB_MS);
    watch.beatAtMs += 40;
    expect(forgiven(watch)).toBe(0);
  });

  it('of a thread that is not known changes nothing', () => {
    const watch = new Stopwatch();
    expect(forgiven(watch)).toBe(0);
    expect(forgiven(watch)).toBe(0);
  });
});
