import { FSYNC_MODES, LIMITS, MIN_SEGMENT_BYTES, STORAGE_KINDS } from '@orchd/storage';
import {
  folderOrNone,
  httpHosts,
  integer,
  matching,
  onOff,
  oneOf,
  plainText,
  queueList,
  redisUrl,
  type SettingParser,
} from './setting-parsers.js';
import { ROLES, type Settings } from './settings.js';

export interface SettingDefinition<T> {
  readonly flag: string;
  /** As it would be written on the command line. */
  readonly default: string;
  readonly parse: SettingParser<T>;
  /** What stands for the value in --help. Empty: the flag alone means `on`. */
  readonly value: string;
  readonly help: string;
  /** The value may hold a password: messages never repeat it. */
  readonly secret?: true;
}

const DAY_MS = 86_400_000;
const MAX_WORKERS = 4096;
const GIB = 1024 ** 3;

/** The order is that of --help. The environment variable of a flag is {@link environmentName}. */
export const SETTING_TABLE: { readonly [K in keyof Settings]: SettingDefinition<Settings[K]> } = {
  port: { flag: 'port', value: 'N', default: '8080', parse: integer(0, 65_535), help: 'TCP port of the HTTP API; 0 takes a free one' },
  host: { flag: 'host', value: 'ADDRESS', default: '127.0.0.1', parse: plainText, help: 'address to listen on' },
  storage: { flag: 'storage', value: 'KIND', default: 'wal', parse: oneOf(STORAGE_KINDS), help: 'wal, redis or memory' },
  dataDir: { flag: 'data-dir', value: 'DIR', default: './data', parse: plainText, help: 'folder of the write-ahead log' },
  fsync: {
    flag: 'fsync',
    value: 'MODE',
    default: 'always',
    parse: oneOf(FSYNC_MODES),
    help: 'always (group commit before every answer), interval or never',
  },
  walSegmentBytes: {
    flag: 'wal-segment-bytes',
    value: 'N',
    default: '16777216',
    parse: integer(MIN_SEGMENT_BYTES, GIB),
    help: 'size of one log file',
  },
  force: { flag: 'force', value: '', default: 'off', parse: onOff, help: 'start on a log although it is marked MIGRATED' },
  redisUrl: {
    flag: 'redis-url',
    value: 'URL',
    default: 'redis://127.0.0.1:6379',
    parse: redisUrl,
    secret: true,
    help: 'server of --storage redis',
  },
  redisPrefix: {
    flag: 'redis-prefix',
    value: 'NAME',
    default: 'orchd',
    parse: matching(/^[A-Za-z0-9_.-]{1,64}$/),
    help: 'begin of every key of --storage redis',
  },
  role: {
    flag: 'role',
    value: 'ROLE',
    default: 'all',
    parse: oneOf(ROLES),
    help: 'api (takes jobs, runs none), worker (runs them, no /jobs) or all',
  },
  queues: {
    flag: 'queues',
    value: 'LIST',
    default: 'default',
    parse: queueList(MAX_WORKERS),
    help: 'queues to serve: name[:workers],...',
  },
  workers: { flag: 'workers', value: 'N', default: '16', parse: integer(1, MAX_WORKERS), help: 'worker slots of a queue' },
  handlers: {
    flag: 'handlers',
    value: 'DIR',
    default: '',
    parse: folderOrNone,
    help: 'folder of handler modules of your own; empty: none',
  },
  httpAllow: {
    flag: 'http-allow',
    value: 'LIST',
    default: '',
    parse: httpHosts,
    help: 'hosts that http jobs may speak to: host[:port],...',
  },
  maxAttempts: {
    flag: 'max-attempts',
    value: 'N',
    default: '5',
    parse: integer(1, LIMITS.attempts),
    help: 'failures before a job is dead, unless the job says',
  },
  maxRequeues: {
    flag: 'max-requeues',
    value: 'N',
    default: '10',
    parse: integer(0, LIMITS.attempts),
    help: 'requeues before a job is dead, unless the job says',
  },
  retryBaseMs: {
    flag: 'retry-base-ms',
    value: 'MS',
    default: '10',
    parse: integer(0, DAY_MS),
    help: 'delay before the second attempt; doubles with each',
  },
  retryCapMs: { flag: 'retry-cap-ms', value: 'MS', default: '60000', parse: integer(0, DAY_MS), help: 'longest delay between attempts' },
  hbTimeoutMs: {
    flag: 'hb-timeout-ms',
    value: 'MS',
    default: '200',
    parse: integer(20, DAY_MS),
    help: 'silence after which a worker counts as hung',
  },
  healthCheck: { flag: 'health-check', value: 'on|off', default: 'on', parse: onOff, help: 'off: hung workers are left alone' },
  leaseMs: {
    flag: 'lease-ms',
    value: 'MS',
    default: '10000',
    parse: integer(100, DAY_MS),
    help: 'time-bound right of a worker to its job',
  },
  shutdownGraceMs: {
    flag: 'shutdown-grace-ms',
    value: 'MS',
    default: '10000',
    parse: integer(0, DAY_MS),
    help: 'time for running jobs to finish after SIGTERM',
  },
  keepFinishedMs: {
    flag: 'keep-finished-ms',
    value: 'MS',
    default: '86400000',
    parse: integer(0, LIMITS.durationMs),
    help: 'age at which done and cancelled jobs are forgotten; 0 = never',
  },
  keepFinished: {
    flag: 'keep-finished',
    value: 'N',
    default: '100000',
    parse: integer(0, Number.MAX_SAFE_INTEGER),
    help: 'most done and cancelled jobs to keep; 0 = all',
  },
  keepDeadMs: {
    flag: 'keep-dead-ms',
    value: 'MS',
    default: '0',
    parse: integer(0, LIMITS.durationMs),
    help: 'age at which dead jobs are forgotten; 0 = never',
  },
};

export function environmentName(flag: string): string {
  return `ORCHD_${flag.toUpperCase().replaceAll('-', '_')}`;
}
