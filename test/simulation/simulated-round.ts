import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { JobRecord } from '@orchd/storage';
import { ManualClock } from '@orchd/storage/testing';
import { MemoryDisk } from '../../libs/storage/src/adapters/wal/log/memory-disk.fixture.js';
import { assertSound } from '../../libs/storage/src/testing/invariants.js';
import { SeededRandom } from '../harness/seeded-random.js';
import { isRefusal, SimulatedBoot } from './simulated-boot.js';
import { SimulatedLedger } from './simulated-ledger.js';

const STEPS_OF_A_BOOT = 30;
const MOST_BOOTS = 4;
/** I/O calls within which a fault strikes, counted from the start of the process: opening takes some 30 of them. */
const FAULT_WITHIN_CALLS = 150;
/** Far more time than any chain of retries takes. */
const HEALING_STEPS = 3000;

/** A sync that fails late has let time pass, and more calls come, before it does. */
type Fault = 'none' | 'power cut' | 'kill' | 'EIO' | 'late EIO' | 'short' | 'full';
const FAULTS: readonly Fault[] = ['none', 'power cut', 'power cut', 'kill', 'EIO', 'late EIO', 'short', 'full'];
/** Turns of the event loop that a sync on a slow disk takes at most. */
const SLOW_SYNC_TURNS = 6;

/**
 * One round: a disk, a clock, a client, and a few processes one after the other that die in various ways, all driven by one seed. At the end
 * one process runs without faults until everything is final, and the client's ledger is held against what is there (I1-I7).
 */
export class SimulatedRound {
  readonly #random: () => number;
  readonly #disk = new MemoryDisk();
  readonly #clock = new ManualClock();
  readonly #ledger = new SimulatedLedger();
  readonly #segmentBytes: number;
  readonly #trace: string[] = [];
  #serial = 0;
  #failure: Error | null = null;

  constructor(seed: number) {
    const numbers = new SeededRandom(seed);
    this.#random = () => numbers.next();
    this.#segmentBytes = 4096 * (1 + this.#below(4));
  }

  /** What happened, for a failure. */
  get trace(): readonly string[] {
    return this.#trace;
  }

  async run(): Promise<void> {
    const boots = 1 + this.#below(MOST_BOOTS);
    for (let boot = 0; boot < boots; boot++) await this.#live(FAULTS[this.#below(FAULTS.length)]!);
    await this.#heal();
  }

  async #live(fault: Fault): Promise<void> {
    const boot = this.#boot();
    this.#arm(boot, fault);
    const opened = await boot.open().then(
      () => true,
      (error: unknown) => this.#say(`open fails: ${String(error)}`) === null,
    );
    for (let step = 0; opened && !boot.dead && step < STEPS_OF_A_BOOT; step++) {
      this.#act(boot);
      await boot.pass(this.#below(4) === 0 ? this.#below(400) : this.#below(20));
    }
    this.#disk.capacityBytes = Infinity;
    this.#say(boot.dead ? 'the process is dead' : 'the process ends in order');
    await boot.end();
    this.#disk.capacityBytes = Infinity; // it may have become full only now
    this.#ledger.hungUp();
    if (fault !== 'none') this.#disk.kill(); // a process that saw its disk fail has let go of nothing in order
  }

  /** The n-th I/O call of the process brings the fault. */
  #arm(boot: SimulatedBoot, fault: Fault): void {
    const strikesAt = 1 + this.#below(FAULT_WITHIN_CALLS);
    this.#say(`a process starts; ${fault} at I/O call ${strikesAt}`);
    let syncFails = false;
    const slowest = this.#below(2) * SLOW_SYNC_TURNS;
    boot.fs.gate = async () => {
      for (let turns = this.#below(slowest + 1); turns > 0; turns--) await setImmediate();
      if (!syncFails) return;
      syncFails = false; // as Linux has it: the next one succeeds, without what this one has lost
      throw Object.assign(new Error('EIO: a sync'), { code: 'EIO' });
    };
    boot.fs.fault = ({ number }) => {
      if (number !== strikesAt || boot.dead) return undefined;
      this.#say(`${fault} strikes`);
      if (fault === 'EIO' || fault === 'short') return fault;
      if (fault === 'late EIO') syncFails = true;
      if (fault === 'full') this.#disk.capacityBytes = this.#disk.usedBytes + this.#below(2 * this.#segmentBytes);
      if (fault === 'power cut' || fault === 'kill') this.#kill(boot, fault);
      return undefined;
    };
  }

  #kill(boot: SimulatedBoot, how: 'power cut' | 'kill'): void {
    boot.dead = true;
    this.#ledger.hungUp();
    if (how === 'kill') this.#disk.kill();
    else this.#disk.cutPower({ random: this.#random });
  }

  #act(boot: SimulatedBoot): void {
    const dice = this.#random();
    if (dice < 0.5) this.#enqueue(boot);
    else if (dice < 0.8) this.#read(boot);
    else if (dice < 0.87) this.#quietly('cancel', (id) => boot.queue.cancel(id));
    else if (dice < 0.92) this.#quietly('redrive', (id) => boot.queue.redrive(id));
  }

  #enqueue(boot: SimulatedBoot): void {
    const jobs = Array.from({ length: 1 + this.#below(4) }, () => {
      const id = `job-${++this.#serial}`;
      const payload = { n: this.#serial, text: 'x'.repeat(this.#below(300)) };
      this.#ledger.sent(id, JSON.stringify(payload));
      const delayMs = this.#below(3) === 0 ? this.#below(500) : 0;
      return {
        type: 'work',
        id,
        payload,
        delayMs,
        priority: this.#below(10),
        maxAttempts: 1 + this.#below(4),
        maxRequeues: this.#below(4),
      };
    });
    const answer = (fate: 'acked' | 'refused' | 'unknown') => {
      if (boot.dead) return;
      this.#say(`${jobs.map(({ id }) => id).join(' ')}: ${fate}`);
      for (const { id } of jobs) this.#ledger.answered(id, fate);
    };
    boot.queue.enqueueMany(jobs).then(
      () => answer('acked'),
      (error: unknown) => answer(isRefusal(error) ? 'refused' : 'unknown'),
    );
  }

  #read(boot: SimulatedBoot): void {
    const id = this.#someId();
    if (id === undefined) return;
    // What is acknowledged or shown only while this reader waits for its answer may well be unknown to it.
    const known = this.#ledger.isKnown(id);
    boot.storage.get(id).then(
      (record) => {
        if (!boot.dead && (known || record !== null)) this.#observe(id, record);
      },
      () => undefined, // 503: nothing was shown
    );
  }

  #quietly(what: string, call: (id: string) => Promise<unknown>): void {
    const id = this.#someId();
    if (id === undefined) return;
    call(id).then(
      () => this.#say(`${what} ${id}`),
      () => undefined,
    );
  }

  async #heal(): Promise<void> {
    const boot = this.#boot();
    boot.kind = true;
    await boot.open();
    try {
      for (let step = 0; step < HEALING_STEPS; step++) {
        const { ready, delayed, active } = await boot.storage.counts();
        if (ready + delayed + active === 0) break;
        await boot.pass(50);
      }
      await this.#audit(boot);
    } finally {
      await boot.end();
    }
    if (this.#failure !== null) throw this.#failure;
  }

  async #audit(boot: SimulatedBoot): Promise<void> {
    const recount = { delayed: 0, ready: 0, active: 0, done: 0, dead: 0, cancelled: 0 };
    for (const id of this.#ledger.ids()) {
      const record = await boot.storage.get(id);
      this.#observe(id, record);
      if (record === null) continue;
      recount[record.state]++;
      assert.ok(['done', 'dead', 'cancelled'].includes(record.state), `${id} is ${record.state} although nothing fails any more (I5)`);
    }
    assert.deepEqual(await boot.storage.counts(), recount, 'the counts equal a recount (I7)');
  }

  /** Runs also where nobody waits for it, so a failure is kept for the end of the round. */
  #observe(id: string, record: JobRecord | null): void {
    try {
      this.#ledger.shown(id, record);
      if (record !== null) assertSound(record);
    } catch (error) {
      this.#failure ??= error as Error;
    }
  }

  #boot(): SimulatedBoot {
    return new SimulatedBoot({
      disk: this.#disk,
      clock: this.#clock,
      random: this.#random,
      ledger: this.#ledger,
      segmentBytes: this.#segmentBytes,
    });
  }

  #someId(): string | undefined {
    return this.#serial === 0 ? undefined : `job-${1 + this.#below(this.#serial)}`;
  }

  #below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  #say(what: string): null {
    this.#trace.push(what);
    return null;
  }
}
