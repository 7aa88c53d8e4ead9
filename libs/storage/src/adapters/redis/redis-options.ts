import type { RedisOptions } from 'ioredis';
import { InvalidArgumentError, type Clock } from '../../contract/index.js';

export interface RedisStorageOptions {
  /**
   * Where Redis is: `redis://[user:password@]host[:port][/db]`, `rediss://` for TLS, several hosts of one Cluster with commas between,
   * `redis+sentinel://host[:port],.../master-name`. Default `redis://127.0.0.1:6379`.
   */
  readonly url?: string;
  /** The namespace: processes with the same one share their jobs. Default `orchd`. */
  readonly prefix?: string;
  /** A call that Redis has not answered by then has an unknown outcome, and its connection is given up; default 3000 ms. */
  readonly commandTimeoutMs?: number;
  /** What a URL cannot say, for every connection: TLS certificates, the family of addresses. */
  readonly ioredis?: RedisOptions;
  /** Told when Redis is lost and found, when it promises less than it did, and when jobs were lost in it. */
  readonly warn?: (message: string, details: object) => void;
  readonly clock?: Clock;
  /** Uniform in [0, 1), for jitter. */
  readonly random?: () => number;
}

export const DEFAULT_URL = 'redis://127.0.0.1:6379';
export const DEFAULT_PREFIX = 'orchd';
const DEFAULT_COMMAND_TIMEOUT_MS = 3000;

export function commandTimeout({ commandTimeoutMs = DEFAULT_COMMAND_TIMEOUT_MS }: RedisStorageOptions): number {
  if (Number.isSafeInteger(commandTimeoutMs) && commandTimeoutMs >= 1) return commandTimeoutMs;
  throw new InvalidArgumentError('commandTimeoutMs', 'must be a whole number of milliseconds, at least 1');
}
