import { InvalidArgumentError } from '../../../contract/index.js';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Where Redis is, and how to get in. */
export interface RedisTarget {
  /** Servers to ask: one, or some nodes of a Cluster, or the Sentinels. */
  readonly seeds: readonly Address[];
  /** The name of the master, where the seeds are Sentinels. */
  readonly sentinelName: string | null;
  readonly tls: boolean;
  readonly username: string | null;
  readonly password: string | null;
  readonly db: number;
}

const SCHEMES = ['redis:', 'rediss:', 'redis+sentinel:', 'rediss+sentinel:'];
const DEFAULT_PORT = { server: 6379, sentinel: 26_379 };

/**
 * `redis://[user:password@]host[:port][,host[:port]...][/db]`, `rediss://` for TLS. Several hosts are nodes of one Cluster. With
 * `redis+sentinel://...hosts.../master-name[/db]` they are Sentinels. Throws `invalid_argument`; the message never shows the password.
 */
export function parseRedisUrl(url: string): RedisTarget {
  const scheme = SCHEMES.find((known) => url.startsWith(`${known}//`));
  if (scheme === undefined) throw bad(`must begin with ${SCHEMES.map((known) => `${known}//`).join(', ')}`);
  const sentinel = scheme.endsWith('+sentinel:');
  const rest = url.slice(scheme.length + 2);
  const slash = rest.indexOf('/');
  const authority = slash === -1 ? rest : rest.slice(0, slash);
  const path = slash === -1 ? [] : rest.slice(slash + 1).split('/');
  const sign = authority.lastIndexOf('@');
  const [username, password] = sign === -1 ? [null, null] : credentials(authority.slice(0, sign));
  const sentinelName = sentinel ? (path.shift() ?? '') : null;
  if (sentinelName === '') throw bad('must name the master behind the Sentinels: redis+sentinel://host:26379/name');
  const port = sentinel ? DEFAULT_PORT.sentinel : DEFAULT_PORT.server;
  return {
    seeds: authority
      .slice(sign + 1)
      .split(',')
      .map((host) => address(host, port)),
    sentinelName,
    tls: scheme.startsWith('rediss'),
    username,
    password,
    db: database(path),
  };
}

function credentials(text: string): [string | null, string | null] {
  const colon = text.indexOf(':');
  const user = colon === -1 ? text : text.slice(0, colon);
  try {
    return [user === '' ? null : decodeURIComponent(user), colon === -1 ? null : decodeURIComponent(text.slice(colon + 1))];
  } catch {
    throw bad('must have its user and password percent-encoded');
  }
}

function address(text: string, defaultPort: number): Address {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]]+))(?::(\d+))?$/.exec(text);
  const port = match?.[3] === undefined ? defaultPort : Number(match[3]);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined || port < 1 || port > 65_535) throw bad(`must have hosts as name[:port], not ${JSON.stringify(text)}`);
  return { host, port };
}

function database(path: readonly string[]): number {
  const [text = ''] = path;
  if (path.length > 1 || !/^\d*$/.test(text)) throw bad('must end with the number of a database, if with anything');
  return Number(text);
}

function bad(problem: string): InvalidArgumentError {
  return new InvalidArgumentError('redisUrl', problem);
}
