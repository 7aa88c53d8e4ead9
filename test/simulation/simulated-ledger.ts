import assert from 'node:assert/strict';
import type { JobRecord } from '@orchd/storage';

type Fate = 'sent' | 'acked' | 'refused' | 'unknown';

/** What one client knows of one job: what it asked for, what it was answered, and what it was shown since. */
interface Line {
  readonly payload: string;
  fate: Fate;
  seen: JobRecord | null;
  /** The highest epoch a handler was given. */
  delivered: number;
}

/** The client's side of a round: written before every request and after every answer, and held against what the storage says later. */
export class SimulatedLedger {
  readonly #lines = new Map<string, Line>();

  get size(): number {
    return this.#lines.size;
  }

  ids(): string[] {
    return [...this.#lines.keys()];
  }

  sent(id: string, payload: string): void {
    this.#lines.set(id, { payload, fate: 'sent', seen: null, delivered: 0 });
  }

  /** An answer came. One to a repeated request does not take back an earlier one. */
  answered(id: string, fate: Exclude<Fate, 'sent'>): void {
    const line = this.#lines.get(id)!;
    if (line.fate === 'acked' || (line.fate === 'unknown' && fate === 'refused')) return;
    line.fate = fate;
  }

  /** Whoever waits for an answer when the process dies will never have one. */
  hungUp(): void {
    for (const line of this.#lines.values()) if (line.fate === 'sent') line.fate = 'unknown';
  }

  /** A handler was entered. I4: epochs rise with every delivery, over every crash. */
  delivered(id: string, epoch: number): void {
    const line = this.#lines.get(id);
    assert.ok(line, `a handler got ${id}, which nobody has sent`);
    assert.ok(epoch > line.delivered, `${id} is delivered with epoch ${epoch} after ${line.delivered} (I4)`);
    line.delivered = epoch;
  }

  /** The job was acknowledged or shown: it can never be gone again. */
  isKnown(id: string): boolean {
    const { fate, seen } = this.#lines.get(id)!;
    return fate === 'acked' || seen !== null;
  }

  /** A reader was shown a job, or that there is none. */
  shown(id: string, record: JobRecord | null): void {
    const line = this.#lines.get(id)!;
    const before = line.seen;
    if (record === null) {
      assert.ok(line.fate !== 'acked', `${id} was acknowledged and is gone (I1)`);
      assert.equal(before, null, `${id} was shown and is gone (R14)`);
      return;
    }
    assert.ok(line.fate !== 'refused', `${id} was refused and is there all the same (R15)`);
    assert.equal(record.payload, line.payload, `${id} has the payload that was sent`);
    if (record.state === 'done') {
      assert.equal(record.result, JSON.stringify({ epoch: record.epoch }), `${id} has the result of the delivery that counts (I4)`);
    }
    if (before !== null) {
      assert.ok(record.epoch >= before.epoch, `the epoch of ${id} went from ${before.epoch} to ${record.epoch} (I4)`);
      if (before.state === 'done') {
        assert.equal(record.state, 'done', `${id} was shown done and is ${record.state} (I3)`);
        assert.equal(record.epoch, before.epoch, `${id} was done twice (I4)`);
      }
    }
    line.seen = record;
  }
}
