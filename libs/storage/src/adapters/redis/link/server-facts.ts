import { OrchdError, type Durability } from '../../../contract/index.js';

/** What a server says about itself. */
export interface ServerFacts {
  /** Of Redis, or of the Redis that a fork is compatible with. */
  readonly version: string;
  /** Another one after every restart. */
  readonly runId: string;
  readonly cluster: boolean;
  readonly loading: boolean;
  readonly replica: boolean;
}

/** A server on which jobs would not be safe, or not possible: waiting does not help, somebody must change something. */
export class UnfitServerError extends OrchdError {
  constructor(
    problem: string,
    readonly remedy: string,
  ) {
    super('storage_unavailable', `${problem}: ${remedy}`);
  }
}

/** Scripts declare whether they may run on a full Redis; the first that understands this is 7.0. Valkey says 7.2.4. */
const OLDEST = { text: '7.0', major: 7 };

export function parseInfo(info: string): ServerFacts {
  const fields = new Map(info.split(/\r?\n/).map((line) => line.split(':', 2) as [string, string | undefined]));
  const field = (name: string): string => fields.get(name) ?? '';
  return {
    version: field('redis_version'),
    runId: field('run_id'),
    cluster: field('cluster_enabled') === '1' || field('redis_mode') === 'cluster',
    loading: field('loading') === '1' || field('async_loading') === '1',
    replica: field('role') === 'slave',
  };
}

/** Throws {@link UnfitServerError}, naming the version, for a server that is too old (case G33). */
export function assertVersion({ version }: ServerFacts): void {
  if (version !== '' && Number.parseInt(version, 10) < OLDEST.major) {
    throw new UnfitServerError(`Redis ${version} is too old`, `use Redis ${OLDEST.text} or Valkey 7.2, or a newer one`);
  }
}

/** The settings of a server that decide what it can promise; null where CONFIG is forbidden. */
export type ServerSettings = ReadonlyMap<string, string> | null;

export const SETTING_NAMES = ['appendonly', 'appendfsync', 'no-appendfsync-on-rewrite', 'maxmemory-policy'] as const;

export function parseSettings(flat: readonly string[]): ServerSettings {
  const settings = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) settings.set(flat[i]!, flat[i + 1]!);
  return settings;
}

/** Throws {@link UnfitServerError} for a server that throws away any key when it is full (case G13). Jobs do not expire, so volatile-* spares them. */
export function assertKeeps(settings: ServerSettings): void {
  const policy = settings?.get('maxmemory-policy');
  if (policy?.startsWith('allkeys')) {
    throw new UnfitServerError(`Redis throws jobs away when it is full (maxmemory-policy ${policy})`, 'set maxmemory-policy to noeviction');
  }
}

/** R1. A server that does not fsync while it rewrites its log does so only at intervals, whatever `appendfsync` says. */
export function durabilityOf(settings: ServerSettings): Durability {
  const fsync = settings?.get('appendfsync');
  if (settings === null || fsync === undefined) return 'unknown';
  if (settings.get('appendonly') !== 'yes') return 'memory';
  if (fsync === 'always') return settings.get('no-appendfsync-on-rewrite') === 'yes' ? 'interval' : 'fsync';
  return fsync === 'everysec' ? 'interval' : 'os';
}
