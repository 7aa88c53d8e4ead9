import type { ImportOutcome, JobCounts, JobRecord, JobState, MovedJob, PrunePolicy } from '../../contract/index.js';
import type { ClaimOp, ClaimReply } from './claim-desk.js';
import type { DeliveryOp } from './delivery-ops.js';
import { encodeCalls, type EnqueueCall, type EnqueueReply } from './enqueue-calls.js';
import { encodeImport } from './import-calls.js';
import { claim } from './lua/claim.lua.js';
import { deliver } from './lua/deliver.lua.js';
import { enqueue } from './lua/enqueue.lua.js';
import { importJobs } from './lua/import.lua.js';
import { counts, few, get, list } from './lua/look.lua.js';
import { cancel, redrive } from './lua/operate.lua.js';
import { prune } from './lua/prune.lua.js';
import { reap } from './lua/reap.lua.js';
import { begin, probe } from './lua/session.lua.js';
import { decodeClaimed, decodeRecord, type ClaimedJob, type ShownJob } from './record-codec.js';
import type { Script } from './script.js';

/** Where scripts run: a link, or one session of it. */
export interface ScriptRunner {
  run(script: Script, args: readonly string[]): Promise<unknown>;
}

/** How the namespace was found. */
export interface Beginning {
  readonly version: string;
  /** Nothing was marked as ours: the first use, or all of it is lost. */
  readonly fresh: boolean;
  readonly controlEnds: string;
}

/** With the instant and the process beside it, a piece of a hash. */
const OWNER_LENGTH = 32;

/** A job, or why an operator's verb was refused: its state, or that there is none. */
export type Operated = JobRecord | JobState | 'missing';

export interface ListStep {
  readonly cursor: string | null;
  readonly limit: number;
  /** Ids to look at. */
  readonly budget: number;
  readonly state?: JobState | undefined;
  readonly queue?: string | undefined;
  readonly type?: string | undefined;
}

/** The scripts as functions: arguments in, replies out, nothing else. */
export class ScriptCalls {
  readonly #runner: ScriptRunner;
  readonly #boot: string;

  constructor(runner: ScriptRunner, boot: string) {
    this.#runner = runner;
    this.#boot = boot;
  }

  async begin(): Promise<Beginning> {
    return beginning(await this.#runner.run(begin, []));
  }

  async probe(): Promise<Beginning> {
    return beginning(await this.#runner.run(probe, []));
  }

  /** Resolves, as `claim` and `deliver` do, when it is answered, with what reads the answer: one reply for each call. */
  async enqueue(calls: readonly EnqueueCall[]): Promise<() => readonly EnqueueReply[]> {
    const replies = (await this.#runner.run(enqueue, encodeCalls(calls))) as EnqueueReply[];
    return () => replies;
  }

  async importJobs(jobs: readonly MovedJob[], epochFloor: number): Promise<ImportOutcome[]> {
    return (await this.#runner.run(importJobs, encodeImport(jobs, epochFloor))) as ImportOutcome[];
  }

  /** @param vanished called when a lane had vanished */
  async claim(ops: readonly ClaimOp[], vanished: () => void): Promise<() => readonly ClaimReply[]> {
    const args = [this.#boot];
    for (const { queue, limit, leaseMs, owner, promote } of ops)
      args.push(queue, String(limit), String(leaseMs), shortOwner(owner), promote ? '1' : '0');
    const [at, hasVanished, ...replies] = (await this.#runner.run(claim, args)) as [string, number, ...ClaimedReply[]];
    if (hasVanished === 1) vanished();
    return () => replies.map((reply) => claimReply(reply, at));
  }

  async deliver(ops: readonly DeliveryOp[]): Promise<() => readonly number[]> {
    const replies = (await this.#runner.run(deliver, ops.flat())) as number[];
    return () => replies;
  }

  /** @returns how many jobs were taken away, and how many leases had ended */
  async reap(randoms: readonly number[]): Promise<{ reaped: number; ended: number }> {
    const [reaped, ended] = (await this.#runner.run(reap, [String(randoms.length), ...randoms.map(String)])) as [number, number];
    return { reaped, ended };
  }

  async get(ids: readonly string[]): Promise<(JobRecord | null)[]> {
    const jobs = (await this.#runner.run(get, ids)) as (ShownJob | null)[];
    return jobs.map((shown) => shown && decodeRecord(shown));
  }

  async list({ cursor, limit, budget, state, queue, type }: ListStep): Promise<JobPageStep> {
    const args = [cursor ?? '', String(limit), String(budget), state ?? '', queue ?? '', type ?? ''];
    const [jobs, rest] = (await this.#runner.run(list, args)) as [ShownJob[], string];
    return { jobs: jobs.map(decodeRecord), rest: rest === '' ? null : rest };
  }

  /** The ids of all jobs in a state, in no order; null where there are more than `most`. */
  async few(state: JobState, most: number): Promise<string[] | null> {
    return (await this.#runner.run(few, [state, String(most)])) as string[] | null;
  }

  async counts(): Promise<JobCounts> {
    const sizes = (await this.#runner.run(counts, [])) as [number, number, number, number, number, number];
    const [delayed, ready, active, done, dead, cancelled] = sizes;
    return { delayed, ready, active, done, dead, cancelled };
  }

  async cancel(id: string): Promise<Operated> {
    return operated(await this.#runner.run(cancel, [id]));
  }

  async redrive(id: string): Promise<Operated> {
    return operated(await this.#runner.run(redrive, [id]));
  }

  async prune({ keepFinishedMs, keepFinished, keepDeadMs }: PrunePolicy, limit: number): Promise<number> {
    return (await this.#runner.run(prune, [keepFinishedMs, keepFinished, keepDeadMs, limit].map(String))) as number;
  }
}

export interface JobPageStep {
  readonly jobs: JobRecord[];
  /** Where to go on, null at the end. */
  readonly rest: string | null;
}

function beginning(reply: unknown): Beginning {
  const [version, fresh, controlEnds] = reply as [string, number, string];
  return { version, fresh: fresh === 1, controlEnds };
}

type ClaimedReply = readonly [jobs: readonly ClaimedJob[], untilDue: string, ends: readonly string[]];

function claimReply([jobs, untilDue, flatEnds]: ClaimedReply, at: string): ClaimReply {
  const ends: [string, string][] = [];
  for (let i = 0; i + 1 < flatEnds.length; i += 2) ends.push([flatEnds[i]!, flatEnds[i + 1]!]);
  return { jobs: jobs.map((job) => decodeClaimed(job, at)), untilDueMs: untilDue === '' ? null : Number(untilDue), ends };
}

/** For people who look into Redis; short enough for its field. */
function shortOwner(owner: string): string {
  return owner.replace(/[^!-~]/g, '_').slice(0, OWNER_LENGTH);
}

function operated(reply: unknown): Operated {
  return typeof reply === 'string' ? (reply as JobState | 'missing') : decodeRecord(reply as ShownJob);
}
