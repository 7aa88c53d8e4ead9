import { InvalidArgumentError, type StorageAdapter } from './contract/index.js';

/** The storages that come with orchd. */
export const STORAGE_KINDS = ['wal', 'redis', 'memory'] as const;
export type StorageKind = (typeof STORAGE_KINDS)[number];
export const FSYNC_MODES = ['always', 'interval', 'never'] as const;

/** Which storage, and how; what is left out comes from the environment, then from the defaults. */
export interface StorageSettings {
  /** `ORCHD_STORAGE`, default `wal`. */
  readonly storage?: StorageKind;
  /** `ORCHD_DATA_DIR`, default `./data`; for `wal`. */
  readonly dataDir?: string;
  /** `ORCHD_FSYNC`, default `always`; for `wal`. */
  readonly fsync?: (typeof FSYNC_MODES)[number];
  /** `ORCHD_WAL_SEGMENT_BYTES`, default 16 MiB, at least 64 KiB; for `wal`. */
  readonly walSegmentBytes?: number;
  /** `ORCHD_REDIS_URL`, default `redis://127.0.0.1:6379`; for `redis`. */
  readonly redisUrl?: string;
  /** `ORCHD_REDIS_PREFIX`, default `orchd`; for `redis`. */
  readonly redisPrefix?: string;
  /** Open a log whose jobs were moved to another storage all the same; for `wal`. */
  readonly force?: boolean;
  /** An adapter of your own; then nothing else here counts. */
  readonly adapter?: StorageAdapter;
  readonly warn?: (message: string, details: object) => void;
  readonly onReplay?: (done: number, total: number) => void;
}

export type ResolvedStorageSettings = Required<Omit<StorageSettings, 'force' | 'adapter' | 'warn' | 'onReplay'>>;

export const MIN_SEGMENT_BYTES = 64 * 1024;
const DEFAULTS: ResolvedStorageSettings = {
  storage: 'wal',
  dataDir: './data',
  fsync: 'always',
  walSegmentBytes: 16 * 1024 * 1024,
  redisUrl: 'redis://127.0.0.1:6379',
  redisPrefix: 'orchd',
};

/** Settings beat environment beats defaults. Throws `invalid_argument` naming the setting. */
export function resolveStorageSettings(settings: StorageSettings, env: NodeJS.ProcessEnv = process.env): ResolvedStorageSettings {
  return {
    storage: oneOf('ORCHD_STORAGE', settings.storage ?? env.ORCHD_STORAGE ?? DEFAULTS.storage, STORAGE_KINDS),
    dataDir: settings.dataDir ?? env.ORCHD_DATA_DIR ?? DEFAULTS.dataDir,
    fsync: oneOf('ORCHD_FSYNC', settings.fsync ?? env.ORCHD_FSYNC ?? DEFAULTS.fsync, FSYNC_MODES),
    walSegmentBytes: segmentBytes(settings.walSegmentBytes ?? env.ORCHD_WAL_SEGMENT_BYTES ?? DEFAULTS.walSegmentBytes),
    redisUrl: settings.redisUrl ?? env.ORCHD_REDIS_URL ?? DEFAULTS.redisUrl,
    redisPrefix: settings.redisPrefix ?? env.ORCHD_REDIS_PREFIX ?? DEFAULTS.redisPrefix,
  };
}

function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  if ((allowed as readonly string[]).includes(value)) return value as T;
  throw new InvalidArgumentError(name, `must be one of ${allowed.join(', ')}, not ${JSON.stringify(value)}`);
}

function segmentBytes(value: string | number): number {
  const bytes = typeof value === 'number' ? value : /^\d+$/.test(value) ? Number(value) : NaN;
  if (Number.isSafeInteger(bytes) && bytes >= MIN_SEGMENT_BYTES) return bytes;
  throw new InvalidArgumentError('ORCHD_WAL_SEGMENT_BYTES', `must be a whole number of at least ${MIN_SEGMENT_BYTES}`);
}
