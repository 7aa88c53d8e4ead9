import assert from 'node:assert/strict';
import { LIMITS, type ClaimRequest, type JobRecord, type ListQuery, type NewJob, type StorageAdapter } from '../contract/index.js';
import type { StorageCapabilities } from '../contract/index.js';
import { turns, within } from './expectations.js';
import { assertSound } from './invariants.js';
import type { StorageFixture } from './storage-fixture.js';

/** Longer than any case lives, so that no lease ends but where a case wants it. */
const LEASE_MS = 600_000;
const STEPS = 20;

/** What a case works with: the storage under test, and short ways to say the usual things. Every job that passes through is checked. */
export class Workbench {
  /** The newest adapter: after `reopen` and `crash` it is another one. */
  adapter: StorageAdapter;
  readonly capabilities: StorageCapabilities;
  readonly #fixture: StorageFixture;

  constructor(fixture: StorageFixture) {
    this.#fixture = fixture;
    this.adapter = fixture.adapter;
    this.capabilities = fixture.adapter.capabilities;
  }

  // Time, death and company ---------------------------------------------------------------------------------------------------------

  advance(ms: number): Promise<void> {
    return this.#fixture.advance(ms);
  }

  async jumpWall(ms: number): Promise<void> {
    await this.#hand('jumpWall', 'shared: false').call(this.#fixture, ms);
  }

  async reopen(): Promise<void> {
    this.adapter = await this.#hand('reopen', 'persistent: true').call(this.#fixture);
  }

  async crash(): Promise<void> {
    this.adapter = await this.#hand('crash', 'persistent: true').call(this.#fixture);
  }

  second(): Promise<StorageAdapter> {
    return this.#hand('second', 'shared: true').call(this.#fixture);
  }

  /** Lets up to `ms` pass, in steps, until the call ends. The call may begin to wait only after some event-loop turns. */
  async during<T>(call: Promise<T>, ms: number, what: string): Promise<T> {
    let ended = false;
    const mark = (): void => void (ended = true);
    call.then(mark, mark);
    const step = Math.ceil(ms / STEPS);
    for (let passed = 0; !ended && passed < ms + step; passed += step) {
      await turns(2);
      await this.advance(step);
    }
    return within(call, what);
  }

  // Jobs ----------------------------------------------------------------------------------------------------------------------------

  newJob(overrides: Partial<NewJob> = {}): NewJob {
    return { queue: 'default', type: 'kit', payload: '{}', ...overrides };
  }

  /** Enqueues one job and resolves with its id. */
  async add(overrides: Partial<NewJob> = {}): Promise<string> {
    const [outcome] = await this.adapter.enqueue([this.newJob(overrides)]);
    return outcome!.id;
  }

  /** Enqueues a batch and resolves with its ids, in order. */
  async addAll(count: number, overrides: (index: number) => Partial<NewJob> = () => ({})): Promise<string[]> {
    const jobs = Array.from({ length: count }, (_, index) => this.newJob(overrides(index)));
    return (await this.adapter.enqueue(jobs)).map(({ id }) => id);
  }

  async claim(request: Partial<ClaimRequest> = {}, adapter: StorageAdapter = this.adapter): Promise<JobRecord[]> {
    const jobs = await adapter.claim({ queue: 'default', limit: 1, owner: 'kit', leaseMs: LEASE_MS, ...request });
    for (const job of jobs) {
      assertSound(job);
      assert.equal(job.state, 'active', `claimed job ${job.id}`);
    }
    return jobs;
  }

  /** Claims the one job that the caller knows to be ready. */
  async take(queue = 'default'): Promise<JobRecord> {
    const [job] = await this.claim({ queue });
    assert.ok(job !== undefined, `a job of queue ${queue} is ready to be claimed`);
    return job;
  }

  /** The job as it stands, checked. */
  async look(id: string): Promise<JobRecord> {
    const job = await this.adapter.get(id);
    assert.ok(job !== null, `job ${id} is kept`);
    assertSound(job);
    return job;
  }

  /** Every job the query selects, by pages of `limit`. */
  async all(query: ListQuery = {}): Promise<JobRecord[]> {
    const jobs: JobRecord[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await this.adapter.list({ limit: LIMITS.list, ...query, ...(cursor !== '' && { cursor }) });
      jobs.push(...page.jobs);
      cursor = page.nextCursor;
    }
    return jobs;
  }

  /** Whatever a case did: every job is sound, and the counts are those of a recount. */
  async checkBooks(): Promise<void> {
    if (this.adapter.health().state !== 'open') return;
    const recount = { delayed: 0, ready: 0, active: 0, done: 0, dead: 0, cancelled: 0 };
    for (const job of await this.all()) {
      assertSound(job);
      recount[job.state]++;
    }
    assert.deepEqual(await this.adapter.counts(), recount, 'counts() equals a recount of list()');
  }

  #hand<K extends 'jumpWall' | 'reopen' | 'crash' | 'second'>(name: K, because: string): NonNullable<StorageFixture[K]> {
    const hand = this.#fixture[name];
    assert.ok(hand !== undefined, `the fixture of an adapter that declares ${because} has ${name}()`);
    return hand;
  }
}
