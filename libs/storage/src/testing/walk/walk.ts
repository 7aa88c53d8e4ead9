import assert from 'node:assert/strict';
import { OrchdError, type JobRecord, type Lease } from '../../contract/index.js';
import { Model, type Answer } from '../model.js';
import type { ModelJob, ModelRequest } from '../model-job.js';
import { SeededRandom } from '../seeded-random.js';
import type { Workbench } from '../workbench.js';

const TRACE_LINES = 30;
const REMEMBERED_LEASES = 40;
const STEPS_BETWEEN_CHECKS = 100;

/** One kind of step: does it, on the storage and on the model, and says in a line what it did. */
export type Step = (walk: Walk) => Promise<string>;

/**
 * A random walk: thousands of operations, each done on the storage and on the model, each answer compared. The seed decides everything, so
 * that a walk that went wrong can be walked again.
 */
export class Walk {
  readonly random: SeededRandom;
  /** The storage's clock is moved by hand, together with the model's. */
  readonly exact: boolean;
  /** Leases that were given out, lost ones too: late workers exist. */
  readonly leases: Lease[] = [];
  /** Requests of jobs that were pruned: their ids and keys are free again. */
  readonly forgotten: ModelRequest[] = [];
  model!: Model;

  /**
   * What a storage that dies now may come back as, besides what it is: the states before each step since the last one that had to be
   * durable. Those steps did not wait for the disk; a crash may take back a suffix of them, never one from the middle.
   */
  #survivors: Model[] = [];
  readonly #epochs = new Map<string, number>();
  readonly #trace: string[] = [];
  readonly #seed: number;
  #number = 0;

  constructor(
    readonly bench: Workbench,
    seed: number,
  ) {
    this.#seed = seed;
    this.random = new SeededRandom(seed);
    this.exact = !bench.capabilities.shared;
  }

  async run<K extends string>(count: number, steps: Readonly<Record<K, Step>>, weights: Readonly<Record<K, number>>): Promise<void> {
    this.model = new Model(await this.#wallOfTheStorage(), this.exact);
    for (let step = 1; step <= count; step++) {
      const kind = this.random.weighted(weights);
      try {
        this.#note(`${step} ${kind}: ${await steps[kind](this)}`);
        if (step % STEPS_BETWEEN_CHECKS === 0 || step === count) await this.checkAll();
      } catch (error) {
        throw this.#diverged(step, kind, error);
      }
    }
  }

  /** 1, 2, 3 ...: for names. */
  number(): number {
    return ++this.#number;
  }

  // Comparing -----------------------------------------------------------------------------------------------------------------------

  /** The storage's answer is the model's. */
  async same<T>(call: Promise<T>, expected: Answer<unknown>): Promise<void> {
    const actual: Answer<T> = await call.then(
      (value) => ({ value }),
      (error: unknown) => {
        if (error instanceof OrchdError) return { refused: error.code };
        throw error;
      },
    );
    assert.deepEqual(actual, expected, 'the storage answers as the model does');
  }

  /** The job is shown as the model has it, and what was shown cannot be taken back by a crash (R14). */
  async see(id: string): Promise<void> {
    const record = await this.bench.adapter.get(id);
    const job = this.model.find(id);
    if (record === null || job === undefined) assert.equal(record === null, job === undefined, `${id} is kept by both or by neither`);
    else this.observe(record);
    this.#survivors = this.#survivors.filter((model) => looks(model.find(id)) === looks(this.model.find(id)));
  }

  observe(record: JobRecord): void {
    this.model.observe(record);
    this.#epochs.set(record.id, Math.max(record.epoch, this.#epochs.get(record.id) ?? 0));
  }

  async checkAll(): Promise<JobRecord[]> {
    const records = await this.bench.all({ limit: this.random.between(3, 60) });
    this.model.observeAll(records);
    assert.deepEqual(await this.bench.adapter.counts(), this.model.counts(), 'counts()');
    this.settled();
    return records;
  }

  // Leases --------------------------------------------------------------------------------------------------------------------------

  /** A lease was given out. Its epoch was never seen before, not even on a delivery that a crash has made undone (R3). */
  leased(record: JobRecord): void {
    const highest = this.#epochs.get(record.id) ?? -1;
    assert.ok(record.epoch > highest, `the lease of ${record.id} has an epoch above ${highest}; it has ${record.epoch}`);
    this.#epochs.set(record.id, record.epoch);
    this.leases.push({ id: record.id, epoch: record.epoch });
    if (this.leases.length > REMEMBERED_LEASES) this.leases.shift();
  }

  /** Mostly one that is held, sometimes one that was. */
  anyLease(): Lease | undefined {
    const held = this.leases.filter((lease) => this.model.extend(lease) !== 'lost');
    if (held.length > 0 && this.random.chance(0.7)) return this.random.pick(held);
    return this.leases.length === 0 ? undefined : this.random.pick(this.leases);
  }

  // Dying ---------------------------------------------------------------------------------------------------------------------------

  /** To be called before a step that may change the storage without waiting until that is durable. */
  unsettled(): void {
    if (this.bench.capabilities.persistent) this.#survivors.push(this.model.fork());
  }

  /** A step has waited until it was durable, and so is all before it. */
  settled(): void {
    this.#survivors = [];
  }

  /** The storage is open again after a clean close: nothing may be missing. */
  async wasReopened(): Promise<void> {
    this.model.reopen();
    await this.checkAll();
  }

  /** The storage is open again after it died: it is one of those that could survive. */
  async hasCrashed(): Promise<string> {
    const records = await this.bench.all();
    const candidates = [...this.#survivors, this.model].reverse();
    let closest: unknown;
    for (const [undone, candidate] of candidates.entries()) {
      const survivor = candidate.fork(this.model);
      survivor.reopen();
      try {
        survivor.observeAll(records);
      } catch (error) {
        closest ??= error;
        continue;
      }
      this.model = survivor;
      await this.checkAll();
      return `${undone} steps undone`;
    }
    throw closest;
  }

  // -----------------------------------------------------------------------------------------------------------------------------------

  /** Read off a job that is gone again when this resolves. */
  async #wallOfTheStorage(): Promise<number> {
    const { id, createdAt } = await this.bench.look(await this.bench.add({ queue: 'probe' }));
    await this.bench.adapter.cancel(id);
    await this.bench.advance(2);
    await this.bench.adapter.prune({ keepFinishedMs: 1, keepFinished: 0, keepDeadMs: 0 });
    return createdAt + 2;
  }

  #note(line: string): void {
    this.#trace.push(line);
    if (this.#trace.length > TRACE_LINES) this.#trace.shift();
  }

  #diverged(step: number, kind: string, cause: unknown): Error {
    const what = cause instanceof Error ? cause.message : String(cause);
    const message = [
      `The storage and the model part at step ${step} (${kind}). Walk it again with ORCHD_KIT_SEED=${this.#seed}.`,
      what,
      'The steps before it:',
      ...this.#trace,
    ].join('\n');
    return new Error(message, { cause });
  }
}

/** What a reader can tell of a job. */
function looks(job: Readonly<ModelJob> | undefined): string {
  if (job === undefined) return 'nothing';
  return [job.state, job.epoch, job.starts, job.attempts, job.requeues, job.releases, job.cancelRequested].join();
}
