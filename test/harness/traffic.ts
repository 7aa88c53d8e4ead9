import { Agent } from 'node:http';
import type { Ledger, Submission } from './ledger.js';
import { LedgerClient } from './ledger-client.js';
import type { SeededRandom } from './seeded-random.js';
import type { SeenJobs } from './seen-jobs.js';
import type { ServiceProcess } from './service-process.js';

/** A job delayed by so much is there to be cancelled; it never comes up by itself. */
export const FAR_MS = 3_600_000;

const READERS = 8;
/** Readers look at the youngest jobs: what is lost is lost of them. */
const YOUNG = 100;

/**
 * Clients that enqueue, repeat and cancel, and readers that look, all at once, each request after the answer to its last one. They stop by
 * themselves when the service is gone. Some jobs are to be cancelled before they are due, some fail, a few hang.
 */
export class Traffic {
  readonly client: LedgerClient;
  readonly #agent: Agent;
  readonly #loops: Promise<unknown>;
  #stopped = false;

  constructor(
    service: ServiceProcess,
    private readonly ledger: Ledger,
    seen: SeenJobs,
    private readonly random: SeededRandom,
    clients = 64,
  ) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: clients + READERS });
    this.client = new LedgerClient(service.port, ledger, seen, this.#agent);
    void service.exited.then(() => (this.#stopped = true));
    this.#loops = Promise.all([
      ...Array.from({ length: clients }, () => this.#forever(() => this.#write())),
      ...Array.from({ length: READERS }, () => this.#forever(() => this.#read())),
    ]);
  }

  /** Resolves when every request has been answered or has broken. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#loops;
    this.#agent.destroy();
  }

  async #forever(step: () => Promise<unknown>): Promise<void> {
    while (!this.#stopped) await step();
  }

  async #write(): Promise<void> {
    const { client, random } = this;
    const dice = random.next();
    const known = dice < 0.08 ? this.#anyAcked() : undefined;
    if (known) await client.repeat(known);
    else if (dice < 0.16) await client.submitBatch(Array.from({ length: random.between(2, 6) }, () => this.#job()));
    else if (dice < 0.22) await this.#submitAndCancel();
    else await client.submit(this.#job());
  }

  async #submitAndCancel(): Promise<void> {
    const [submission] = (await this.client.submit({ work_ms: 1, delay_ms: FAR_MS })).submissions;
    if (submission?.standing === 'acked') await this.client.cancel(submission);
  }

  async #read(): Promise<void> {
    const { client, ledger, random } = this;
    const from = Math.max(0, ledger.allAcked.length - YOUNG);
    const known = this.#anyAcked(from);
    if (known && random.next() < 0.5) await client.look(known);
    else await client.lookAtPage(`limit=100${from > 0 ? `&cursor=${ledger.allAcked[from]!.id}` : ''}`);
  }

  #job(): Record<string, unknown> {
    const { random } = this;
    return {
      work_ms: random.between(0, 12),
      fail_prob: random.pick([0, 0, 0.2]),
      hang_prob: random.next() < 0.005 ? 1 : 0,
      ...(random.next() < 0.15 && { delay_ms: random.between(1, 60) }),
      max_attempts: 3,
      max_requeues: random.pick([0, 1]),
    };
  }

  #anyAcked(from = 0): Submission | undefined {
    const { allAcked } = this.ledger;
    return allAcked[this.random.between(from, allAcked.length - 1)];
  }
}
