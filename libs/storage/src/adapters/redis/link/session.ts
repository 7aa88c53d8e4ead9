import type { Redis } from 'ioredis';
import { OrchdError } from '../../../contract/index.js';
import type { Script } from '../script.js';
import { endsConnection, replyCode, translate } from './reply-errors.js';
import type { ServerFacts } from './server-facts.js';

/** One connection to Redis, from handshake to its end; it never reconnects. Every failure is translated (see `translate`). */
export class Session {
  /** Resolves when the connection has ended, whoever ended it. */
  readonly ended: Promise<void>;
  readonly #redis: Redis;
  readonly #key: string;
  #dropped = false;

  /** @param key the key that every script declares */
  constructor(
    redis: Redis,
    readonly facts: ServerFacts,
    key: string,
  ) {
    this.#redis = redis;
    this.#key = key;
    this.ended = redis.status === 'end' ? Promise.resolve() : new Promise((resolve) => redis.once('end', () => resolve()));
  }

  get isUsable(): boolean {
    return !this.#dropped && this.#redis.status === 'ready';
  }

  /** Runs a script by its hash; a server that has lost it (restart, SCRIPT FLUSH: case G01) gets it in full. */
  async run(script: Script, args: readonly string[]): Promise<unknown> {
    try {
      return await this.#send('evalsha', [script.sha, '1', this.#key, ...args]);
    } catch (error) {
      if (replyCode(error) !== 'NOSCRIPT') throw translate(error, script.mode);
    }
    try {
      return await this.#send('eval', [script.source, '1', this.#key, ...args]);
    } catch (error) {
      throw translate(error, script.mode);
    }
  }

  /** A command that reads, or changes nothing that is kept. */
  async call(command: string, ...args: readonly string[]): Promise<unknown> {
    try {
      return await this.#send(command, args);
    } catch (error) {
      throw translate(error, 'read');
    }
  }

  /** Ends the connection at once. What was sent and not answered is rejected. */
  drop(): void {
    this.#dropped = true;
    this.#redis.disconnect();
  }

  async #send(command: string, args: readonly string[]): Promise<unknown> {
    // Nothing waits for a better connection: what was refused is never done later (case G27).
    if (!this.isUsable) throw new OrchdError('storage_unavailable', 'the connection to Redis is lost');
    try {
      return await this.#redis.call(command, args as string[]);
    } catch (error) {
      if (endsConnection(error)) this.drop();
      throw error;
    }
  }
}
