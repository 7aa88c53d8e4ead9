import { expect } from '@jest/globals';
import { setTimeout } from 'node:timers/promises';
import { atATime } from './at-a-time.js';
import { unfinished, violations } from './invariants.js';
import { Ledger } from './ledger.js';
import { LedgerClient } from './ledger-client.js';
import { listAll, recount } from './recount.js';
import type { SeededRandom } from './seeded-random.js';
import { SeenJobs } from './seen-jobs.js';
import type { ServiceProcess } from './service-process.js';
import { Traffic } from './traffic.js';

const LONGEST_START_MS = 1500;
const MOST_ANSWERS = 800;
/** Every so many rounds the service does not even come up. */
const START_EVERY = 4;
/** That repeat at the end what was left open. */
const CLIENTS = 32;
/** A busy service may well answer `storage_slow`. */
const TRIES = 5;

export interface KillRoundsOptions {
  readonly random: SeededRandom;
  /** Starts a service on the storage that all rounds share. */
  readonly launch: () => ServiceProcess;
  /** What else befalls the storage once the process is gone. */
  readonly afterKill?: () => void;
}

/**
 * One storage, one ledger, and many services on it, each killed with -9 at a random moment: under load, or while it starts. In between,
 * and at the end, the storage is held against everything that the clients sent, were told and were shown.
 */
export class KillRounds {
  readonly #ledger = new Ledger('kill');
  readonly #seen = new SeenJobs();

  constructor(private readonly options: KillRoundsOptions) {}

  async run(rounds: number): Promise<void> {
    for (let round = 1; round <= rounds; round++) {
      await (round % START_EVERY === 0 ? this.#killWhileStarting() : this.#killUnderLoad());
      this.options.afterKill?.();
    }
    await this.#finish();
  }

  /** At any moment: before the lock, in the replay, while what was left over is being worked off. */
  async #killWhileStarting(): Promise<void> {
    const service = this.options.launch();
    await setTimeout(this.options.random.between(0, LONGEST_START_MS));
    await kill(service);
  }

  async #killUnderLoad(): Promise<void> {
    const { random, launch } = this.options;
    const service = await launch().ready();
    await this.#expectSound(service);
    const traffic = new Traffic(service, this.#ledger, this.#seen, random);
    await this.#ledger.answered(random.between(1, MOST_ANSWERS), service.exited);
    await setTimeout(random.between(0, 10));
    await kill(service);
    await traffic.stop();
    expect(traffic.client.surprises).toEqual([]);
  }

  async #expectSound(service: ServiceProcess): Promise<void> {
    expect(violations(await recount(service), this.#ledger, this.#seen)).toEqual([]);
  }

  async #finish(): Promise<void> {
    const service = await this.options.launch().ready();
    await this.#expectSound(service);
    await this.#repeatWhatIsUnknown(service);
    await atATime(CLIENTS, await listAll(service, 'state=delayed'), ({ id }) => service.call('DELETE', `/jobs/${id}`));
    await this.#expectSound(service);
    expect(unfinished(await recount(service))).toEqual([]);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  }

  /** As R15 asks a client to. */
  async #repeatWhatIsUnknown(service: ServiceProcess): Promise<void> {
    const client = new LedgerClient(service.port, this.#ledger, this.#seen);
    await atATime(CLIENTS, this.#ledger.with('unknown'), async (submission) => {
      for (let tries = TRIES; tries > 0 && submission.standing === 'unknown'; tries--) await client.repeat(submission);
    });
    expect(client.surprises).toEqual([]);
    expect(this.#ledger.with('sent', 'unknown')).toEqual([]);
  }
}

/** A service that was gone already, by a fault of its own, tells what it said. */
async function kill(service: ServiceProcess): Promise<void> {
  const { signal } = await service.kill();
  expect(signal === 'SIGKILL' ? '' : service.stdout + service.stderr).toBe('');
}
