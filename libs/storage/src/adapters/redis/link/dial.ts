import { Redis, type RedisOptions } from 'ioredis';
import { OrchdError } from '../../../contract/index.js';
import type { Address, RedisTarget } from './redis-url.js';
import { replyCode } from './reply-errors.js';
import { assertVersion, parseInfo, UnfitServerError, type ServerFacts } from './server-facts.js';

export interface DialOptions {
  readonly target: RedisTarget;
  /** A key of the namespace: in a Cluster, its slot decides which node is right. */
  readonly key: string;
  /** As CLIENT LIST shows it. */
  readonly name: string;
  /** No answer for so long means that there is nobody. */
  readonly timeoutMs: number;
  /** For what a URL cannot say (TLS certificates, a family of addresses). */
  readonly ioredis?: RedisOptions;
}

export interface Dialled {
  readonly redis: Redis;
  readonly facts: ServerFacts;
}

/** A Cluster names another node for a slot that moves at most a few times. */
const MAX_HOPS = 5;
/** A connection that does not answer its end is cut. */
const DISCONNECT_MS = 100;

/**
 * Makes connections to the master that has the namespace: the server itself, the one that Sentinels name, or the owner of the slot in a
 * Cluster, found by asking and following MOVED. Remembers the nodes of a Cluster, so that one can be asked after another died.
 */
export class Dialler {
  readonly #options: DialOptions;
  #nodes: Address[];

  constructor(options: DialOptions) {
    this.#options = options;
    this.#nodes = [...options.target.seeds];
  }

  /** Rejects `storage_unavailable`; an UnfitServerError where trying again is no use. */
  async dial(): Promise<Dialled> {
    if (this.#options.target.sentinelName !== null) return this.#connect(null);
    let failure: unknown;
    for (const node of [...this.#nodes]) {
      try {
        return await this.#follow(node);
      } catch (error) {
        if (error instanceof UnfitServerError) throw error;
        failure = error;
        this.#putLast(node);
      }
    }
    throw failure;
  }

  async #follow(first: Address): Promise<Dialled> {
    let node = first;
    for (let hops = 0; hops <= MAX_HOPS; hops++) {
      const dialled = await this.#connect(node);
      if (!dialled.facts.cluster) return dialled;
      const owner = await this.#slotOwner(dialled.redis, node);
      if (owner === null) {
        await this.#learnNodes(dialled.redis, node);
        return dialled;
      }
      dialled.redis.disconnect();
      node = owner;
    }
    throw new OrchdError('storage_unavailable', 'the nodes of the Redis Cluster do not agree who has the slot of the namespace');
  }

  async #connect(node: Address | null): Promise<Dialled> {
    const redis = new Redis(this.#redisOptions(node));
    let cause: unknown;
    redis.on('error', (error: unknown) => (cause = error));
    try {
      await redis.connect();
      const facts = parseInfo(await redis.info());
      assertVersion(facts);
      if (facts.loading) throw new Error('LOADING Redis is loading its data');
      return { redis, facts };
    } catch (error) {
      redis.disconnect();
      if (error instanceof OrchdError) throw error;
      const where = node === null ? 'behind the Sentinels' : `at ${node.host}:${node.port}`;
      const why = cause instanceof Error ? cause.message || cause.name : error instanceof Error ? error.message : String(error);
      throw new OrchdError('storage_unavailable', `no Redis ${where}: ${why}`, { cause: cause ?? error });
    }
  }

  #redisOptions(node: Address | null): RedisOptions {
    const { target, name, timeoutMs, ioredis } = this.#options;
    const { username, password, db, tls } = target;
    const sentinel = {
      sentinels: [...target.seeds],
      name: target.sentinelName!,
      sentinelRetryStrategy: () => null,
      enableTLSForSentinelMode: tls,
    };
    return {
      ...(tls && { tls: {} }),
      ...ioredis,
      ...(node === null ? sentinel : { host: node.host, port: node.port }),
      ...(username !== null && { username }),
      ...(password !== null && { password }),
      db,
      connectionName: name,
      protocol: 2,
      lazyConnect: true,
      // Nothing is sent later or twice behind the caller's back, and a lost connection stays lost: whoever uses it makes a new one.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      retryStrategy: null,
      maxRetriesPerRequest: 0,
      enableReadyCheck: false,
      disableClientInfo: true,
      commandTimeout: timeoutMs,
      connectTimeout: timeoutMs,
      disconnectTimeout: DISCONNECT_MS,
    };
  }

  /** Null where this node has the slot itself. */
  async #slotOwner(redis: Redis, asked: Address): Promise<Address | null> {
    try {
      await redis.exists(this.#options.key);
      return null;
    } catch (error) {
      if (replyCode(error) === 'MOVED') return movedTo(error as Error, asked);
      redis.disconnect();
      throw new OrchdError('storage_unavailable', `the Redis Cluster does not serve: ${(error as Error).message}`, { cause: error });
    }
  }

  async #learnNodes(redis: Redis, owner: Address): Promise<void> {
    const ranges = (await redis.call('cluster', 'slots').catch(() => [])) as [number, number, ...[string, number][]][];
    const others = ranges.flatMap(([, , ...nodes]) => nodes.map(([host, port]) => ({ host: host || owner.host, port })));
    const known = new Map([owner, ...this.#options.target.seeds, ...others].map((node) => [`${node.host}:${node.port}`, node]));
    this.#nodes = [...known.values()];
  }

  #putLast(node: Address): void {
    this.#nodes = [...this.#nodes.filter((other) => other !== node), node];
  }
}

/** "MOVED 3999 127.0.0.1:6381"; a node that does not know its own name leaves it out. */
function movedTo(error: Error, asked: Address): Address {
  const [, , where = ''] = error.message.split(' ');
  const colon = where.lastIndexOf(':');
  return { host: where.slice(0, colon) || asked.host, port: Number(where.slice(colon + 1)) };
}
