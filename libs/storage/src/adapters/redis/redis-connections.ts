import { OrchdError, type Clock, type Durability } from '../../contract/index.js';
import { AuditCalls } from './audit-calls.js';
import { releaseOp } from './delivery-ops.js';
import { FORMAT_VERSION } from './format.js';
import type { HeldLeases } from './held-leases.js';
import type { KeyNames } from './key-names.js';
import { Dialler } from './link/dial.js';
import { Link } from './link/link.js';
import { parseRedisUrl } from './link/redis-url.js';
import { assertKeeps, durabilityOf, parseSettings, SETTING_NAMES, UnfitServerError, type ServerSettings } from './link/server-facts.js';
import type { Session } from './link/session.js';
import { commandTimeout, DEFAULT_URL, type RedisStorageOptions } from './redis-options.js';
import { ScriptCalls, type Beginning } from './script-calls.js';
import { WriteProbe, type Unwritable } from './write-probe.js';

export interface ConnectionParts {
  readonly options: RedisStorageOptions;
  readonly names: KeyNames;
  /** This process, as Redis knows it. */
  readonly boot: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly held: HeldLeases;
  readonly warn: (message: string, details: object) => void;
  /** A session is ready: whoever waits may ask again. */
  readonly ready: () => void;
  /** Keys may have vanished. */
  readonly suspect: () => void;
  readonly controlEnds: (at: string) => void;
}

/** Longer than the bell blocks. */
const BELL_EXTRA_MS = 1000;

/**
 * How an adapter stands with its Redis: one connection for commands and one that XREAD blocks, what the server promises, whether it takes
 * writes. Each new session is prepared before anybody may use it.
 */
export class RedisConnections {
  readonly commands: Link;
  readonly bell: Link;
  readonly #parts: ConnectionParts;
  readonly #probe: WriteProbe;
  #durability: Durability = 'unknown';
  /** Of the server at the last session; another one means that it was restarted, or that it is another server. */
  #runId: string | null = null;
  /** While it opens: ends the wait for Redis. */
  #giveUp: ((error: OrchdError) => void) | null = null;
  #closing = false;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    const { options, names, boot, clock, random } = parts;
    const { ioredis } = options;
    const target = parseRedisUrl(options.url ?? DEFAULT_URL);
    const dialler = (role: string, timeoutMs: number): Dialler =>
      new Dialler({ target, key: names.format, name: `orchd:${boot}:${role}`, timeoutMs, ...(ioredis && { ioredis }) });
    const base = { clock, random, key: names.format };
    const timeoutMs = commandTimeout(options);
    this.commands = new Link({
      ...base,
      dialler: dialler('commands', timeoutMs),
      prepare: (session) => this.#prepare(session),
      onReady: parts.ready,
      onLost: (error) => this.#lost(error),
    });
    this.bell = new Link({ ...base, dialler: dialler('bell', timeoutMs + BELL_EXTRA_MS), prepare: () => Promise.resolve() });
    this.#probe = new WriteProbe(new ScriptCalls(this.commands, boot), this.commands, clock, (beginning) => this.#found(beginning));
  }

  /** What the server's settings promise, as of the last session. */
  get durability(): Durability {
    return this.#durability;
  }

  /** What an opening waits for, in a sentence. */
  get waitsFor(): string {
    const { failure } = this.commands;
    return failure === null ? 'connecting to Redis' : `waiting for Redis: ${failure.message}`;
  }

  /** Null while an enqueue would be taken. */
  unwritable(): Unwritable | null {
    return this.#probe.verdict();
  }

  /** Resolves when Redis is there; rejects when it is unfit, or when `stopWaiting` was called and it is not. */
  async open(): Promise<void> {
    this.#closing = false;
    const givenUp = new Promise<never>((_, reject) => (this.#giveUp = reject));
    this.commands.start();
    try {
      await Promise.race([this.commands.session(), givenUp]);
    } catch (error) {
      await this.commands.close();
      throw error;
    } finally {
      this.#giveUp = null;
    }
    await this.#probe.look();
    this.#probe.start();
  }

  stopWaiting(): void {
    this.#closing = true;
    const { failure } = this.commands;
    if (failure !== null) this.#giveUp?.(failure);
  }

  async close(): Promise<void> {
    await Promise.all([this.#probe.stop(), this.commands.close()]);
    this.#runId = null;
  }

  /** Waiting helps against a Redis that is not there, not against one that is unfit. */
  #lost(error: OrchdError): void {
    const hopeless = error instanceof UnfitServerError || error.code === 'storage_damaged';
    if (this.#giveUp !== null && (hopeless || this.#closing)) return this.#giveUp(error);
    this.#parts.warn(this.#giveUp === null ? 'Redis is lost' : 'waiting for Redis', { reason: error.message });
  }

  async #prepare(session: Session): Promise<void> {
    const settings = await readSettings(session);
    assertKeeps(settings);
    this.#durability = durabilityOf(settings);
    const beginning = await new ScriptCalls(session, this.#parts.boot).begin();
    this.#found(beginning);
    this.#parts.controlEnds(beginning.controlEnds);
    if (this.#runId !== null) await this.#reconcile(session);
    this.#runId = session.facts.runId;
  }

  /**
   * No claim is on its way now: what Redis says this process runs and it does not know of was claimed by a call whose answer got lost. It
   * is given back.
   */
  async #reconcile(session: Session): Promise<void> {
    const { held, boot, warn, suspect } = this.#parts;
    const restarted = session.facts.runId !== this.#runId;
    const { own, vanished } = await new AuditCalls(session, boot).pending(held.leaseMs);
    const unknown = own.filter((lease) => !held.has(lease));
    if (unknown.length > 0) await new ScriptCalls(session, boot).deliver(unknown.map((lease) => releaseOp(lease, 0)));
    if (restarted || vanished) suspect();
    warn('Redis is found again', { restarted, durability: this.#durability, jobs_given_back: unknown.length });
  }

  #found({ version, fresh }: Beginning): void {
    if (version !== FORMAT_VERSION) {
      throw new OrchdError('storage_damaged', `Redis holds jobs of format ${version}; this is format ${FORMAT_VERSION}`);
    }
    if (!fresh || this.#runId === null) return;
    this.#parts.warn('Redis has lost the jobs of this namespace', { run_id: this.#runId });
    this.#parts.suspect();
  }
}

/** Null where CONFIG is forbidden, as on many managed servers. */
async function readSettings(session: Session): Promise<ServerSettings> {
  try {
    return parseSettings((await session.call('config', 'get', ...SETTING_NAMES)) as string[]);
  } catch (error) {
    if (!session.isUsable) throw error;
    return null;
  }
}
