import type { Clock } from '../../contract/index.js';
import { FIRST_PLACE, type AuditCalls, type LanePlace } from './audit-calls.js';
import type { HeldLeases } from './held-leases.js';
import type { KeyNames } from './key-names.js';
import type { Link } from './link/link.js';
import { Periodic } from './periodic.js';

const SHORTEST_LOOK_MS = 250;
const FULL_AUDIT_MS = 300_000;
/** How often a process asks whether a full audit is due. */
const ASK_MS = 30_000;
/** One that something gave reason for may follow another so soon. */
const URGENT_AUDIT_MS = 2000;
/** A full audit takes this share of the time, so that it does not hold anybody up. */
const SHARE = 0.1;
const SCAN_COUNT = 1000;
const STEP = 200;
/** A consumer or a lane that was not used for so long is dropped. */
const UNUSED_MS = 3_600_000;

export interface AuditorParts {
  readonly calls: AuditCalls;
  readonly link: Link;
  readonly names: KeyNames;
  readonly held: HeldLeases;
  readonly clock: Clock;
}

/**
 * Looks after what no call would notice. Twice a lease it walks the running jobs: a lease that somebody deleted is made again. Every five
 * minutes, and when something has vanished, one process goes through all jobs and makes the indexes what their hashes say.
 */
export class Auditor {
  readonly #parts: AuditorParts;
  readonly #walks: Periodic;
  readonly #audits: Periodic;
  #urgent = false;
  #stopped = false;
  #wake: () => void = () => undefined;

  constructor(parts: AuditorParts) {
    this.#parts = parts;
    const { clock } = parts;
    this.#walks = new Periodic(
      clock,
      () => Math.max(SHORTEST_LOOK_MS, this.#parts.held.leaseMs / 2),
      () => this.#walk(),
    );
    this.#audits = new Periodic(
      clock,
      () => (this.#urgent ? URGENT_AUDIT_MS : ASK_MS),
      () => this.#audit(),
    );
  }

  start(): void {
    this.#stopped = false;
    this.#walks.start();
    this.#audits.start();
    this.#audits.hurry();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await Promise.all([this.#walks.stop(), this.#audits.stop()]);
    await this.#parts.calls.leave(UNUSED_MS).catch(() => undefined);
  }

  /** Something has vanished: all jobs are looked at, soon. */
  suspect(): void {
    this.#urgent = true;
    this.#audits.hurry();
  }

  async #walk(): Promise<void> {
    this.#parts.held.sweep();
    const { vanished } = await this.#parts.calls.pending(this.#parts.held.leaseMs);
    if (vanished) this.suspect();
  }

  async #audit(): Promise<void> {
    const { calls } = this.#parts;
    if (!(await calls.mayAudit(this.#urgent ? URGENT_AUDIT_MS : FULL_AUDIT_MS))) return;
    this.#urgent = false;
    try {
      await this.#mendAll();
      for (let place: LanePlace | null = FIRST_PLACE; place !== null && !this.#stopped;) place = await this.#leftovers(place);
      for (let rest: string | null = ''; rest !== null && !this.#stopped;) rest = await this.#orphans(rest);
      if (!this.#stopped) await calls.tidy(UNUSED_MS);
    } catch (error) {
      this.#urgent = true; // it did not come to its end
      throw error;
    }
  }

  async #mendAll(): Promise<void> {
    const { calls, names, link } = this.#parts;
    let cursor = '0';
    do {
      const scan = (): Promise<unknown> => link.call('scan', cursor, 'MATCH', names.jobPattern, 'COUNT', String(SCAN_COUNT));
      const [next, keys] = (await this.#paced(scan)) as [string, string[]];
      cursor = next;
      const ids = keys.map((key) => names.idOf(key));
      for (let at = 0; at < ids.length && !this.#stopped; at += STEP) {
        await this.#paced(() => calls.mend(this.#parts.held.leaseMs, ids.slice(at, at + STEP)));
      }
    } while (cursor !== '0' && !this.#stopped);
  }

  #leftovers(place: LanePlace): Promise<LanePlace | null> {
    return this.#paced(() => this.#parts.calls.leftovers(place, STEP));
  }

  #orphans(after: string): Promise<string | null> {
    return this.#paced(() => this.#parts.calls.orphans(after, STEP));
  }

  async #paced<T>(step: () => Promise<T>): Promise<T> {
    const { clock } = this.#parts;
    const beganMs = clock.monoMs();
    const result = await step();
    if (!this.#stopped) await this.#pause((clock.monoMs() - beganMs) * (1 / SHARE - 1));
    return result;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.clock.setTimer(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}
