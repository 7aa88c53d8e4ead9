import type { FSYNC_MODES, StorageKind } from '@orchd/storage';

export const ROLES = ['api', 'worker', 'all'] as const;

/** A queue this process serves, and how many worker slots it has there; null = as many as `workers` says. */
export interface QueueSetting {
  readonly name: string;
  readonly workers: number | null;
}

/** A host, or all names below one (`*.`); null = the port of the scheme. */
export interface HttpHost {
  readonly host: string;
  readonly port: number | null;
}

/** Every setting of the service, checked. Durations are milliseconds. */
export interface Settings {
  readonly port: number;
  readonly host: string;
  readonly storage: StorageKind;
  readonly dataDir: string;
  readonly fsync: (typeof FSYNC_MODES)[number];
  readonly walSegmentBytes: number;
  /** Start on a log whose jobs were moved to another storage. */
  readonly force: boolean;
  readonly redisUrl: string;
  readonly redisPrefix: string;
  readonly role: (typeof ROLES)[number];
  readonly queues: readonly QueueSetting[];
  readonly workers: number;
  /** Folder of handler modules; null for none. */
  readonly handlers: string | null;
  /** Hosts that jobs of type `http` may speak to. */
  readonly httpAllow: readonly HttpHost[];
  readonly maxAttempts: number;
  readonly maxRequeues: number;
  readonly retryBaseMs: number;
  readonly retryCapMs: number;
  readonly hbTimeoutMs: number;
  /** False: hung workers are left alone. */
  readonly healthCheck: boolean;
  readonly leaseMs: number;
  readonly shutdownGraceMs: number;
  /** 0 = no limit, here and below. */
  readonly keepFinishedMs: number;
  readonly keepFinished: number;
  readonly keepDeadMs: number;
}
