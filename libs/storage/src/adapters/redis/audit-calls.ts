import type { Lease } from '../../contract/index.js';
import { audit, leftovers, mend, orphans, pending, tidy } from './lua/audit.lua.js';
import type { ScriptRunner } from './script-calls.js';

/** Running jobs that one call goes through. */
const PENDING_STEP = 250;

/** A lane, in their order, and the entry behind which to go on. */
export type LanePlace = readonly [lane: number, after: string];
export const FIRST_PLACE: LanePlace = [1, ''];

export interface RunningJobs {
  /** Jobs that Redis believes to run in this process. */
  readonly own: readonly Lease[];
  /** A stream or its group was gone. */
  readonly vanished: boolean;
}

/** The scripts of the audits as functions. */
export class AuditCalls {
  readonly #runner: ScriptRunner;
  readonly #boot: string;

  constructor(runner: ScriptRunner, boot: string) {
    this.#runner = runner;
    this.#boot = boot;
  }

  /** Walks all running jobs, and gives a lease to those that have none. */
  async pending(leaseMs: number): Promise<RunningJobs> {
    const own: Lease[] = [];
    let vanished = false;
    let from = 1;
    let after = '';
    do {
      const args = [String(leaseMs), this.#boot, String(from), after, String(PENDING_STEP)];
      const reply = (await this.#runner.run(pending, args)) as [number, number, number, string, string[]];
      vanished ||= reply[1] === 1;
      for (let i = 0; i + 1 < reply[4].length; i += 2) own.push({ id: reply[4][i]!, epoch: Number(reply[4][i + 1]) });
      [, , from, after] = reply;
    } while (from !== 0);
    return { own, vanished };
  }

  /** @returns how many of the jobs had to be mended */
  async mend(leaseMs: number, ids: readonly string[]): Promise<number> {
    return (await this.#runner.run(mend, [String(leaseMs), ...ids])) as number;
  }

  /** One step through the entries of all lanes; resolves with where to go on, null at the end. */
  async leftovers([from, after]: LanePlace, count: number): Promise<LanePlace | null> {
    const place = (await this.#runner.run(leftovers, [String(from), after, String(count)])) as LanePlace;
    return place[0] === 0 ? null : place;
  }

  /** One step through the index of ids; resolves with where to go on, null at the end. */
  async orphans(after: string, count: number): Promise<string | null> {
    const [, rest] = (await this.#runner.run(orphans, [after, String(count)])) as [number, string];
    return rest === '' ? null : rest;
  }

  async mayAudit(afterMs: number): Promise<boolean> {
    return (await this.#runner.run(audit, [String(afterMs)])) === 1;
  }

  async tidy(unusedMs: number): Promise<void> {
    await this.#runner.run(tidy, [this.#boot, String(unusedMs), 'stay']);
  }

  /** Drops this process's own consumers where nothing is pending. */
  async leave(unusedMs: number): Promise<void> {
    await this.#runner.run(tidy, [this.#boot, String(unusedMs), 'leave']);
  }
}
