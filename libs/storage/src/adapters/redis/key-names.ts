import { InvalidArgumentError } from '../../contract/index.js';

const PREFIX_PATTERN = /^[A-Za-z0-9_.-]{1,64}$/;

/**
 * The keys that are named outside Lua. All keys of a namespace share the hash tag `{prefix}`, so that a Cluster keeps them in one slot.
 * Throws `invalid_argument` for a prefix that could not be a hash tag or would be a pattern to SCAN.
 */
export class KeyNames {
  /** The one key that every script declares. */
  readonly format: string;
  readonly control: string;
  /** Matches the hashes of all jobs. */
  readonly jobPattern: string;
  readonly #ns: string;

  constructor(prefix: string) {
    if (!PREFIX_PATTERN.test(prefix)) throw new InvalidArgumentError('redisPrefix', `must match ${PREFIX_PATTERN.source}`);
    this.#ns = `{${prefix}}:`;
    this.format = `${this.#ns}fmt`;
    this.control = `${this.#ns}ctl`;
    this.jobPattern = `${this.#ns}j:*`;
  }

  stream(queue: string, priority: string): string {
    return `${this.#ns}s:${queue}:${priority}`;
  }

  /** The id in the key of a job's hash. */
  idOf(jobKey: string): string {
    return jobKey.slice(this.#ns.length + 2);
  }
}
