import { randomBytes } from 'node:crypto';
import { availableParallelism, hostname } from 'node:os';
import { InvalidArgumentError, LIMITS, QUEUE_PATTERN, systemClock, type Clock, type PrunePolicy } from '@orchd/storage';
import { integerOption } from '../integer-option.js';
import { silentLog, type Log } from '../maintenance/log.js';

/** All times in ms. */
export interface WorkerPoolOptions {
  /** Workers per queue, e.g. `{ default: 16, mail: 4 }`. Stands instead of `workers`. */
  readonly queues?: Readonly<Record<string, number>>;
  /** Workers of the queue `default`; default 16. */
  readonly workers?: number;
  /** Handler threads at work at a time, of all queues together; default as many as there are cores. More workers wait for one. */
  readonly threads?: number;
  /** Longest silence of a worker that holds a job, unless its handler says otherwise; default 30,000. */
  readonly heartbeatTimeoutMs?: number;
  /** Default true. When false, silent workers are left alone. */
  readonly healthCheck?: boolean;
  /** How long the storage keeps a job for a process that gives no sign; default 10,000. */
  readonly leaseMs?: number;
  /** How long a shutdown waits for running jobs; default 10,000. */
  readonly shutdownGraceMs?: number;
  /** Done and cancelled jobs are forgotten after this time (default one day) and beyond this number (100,000). 0 = no limit. */
  readonly keepFinishedMs?: number;
  readonly keepFinished?: number;
  /** Dead jobs are forgotten after this time; default 0 = never. */
  readonly keepDeadMs?: number;
  /** Default true: at application bootstrap the storage is opened and the workers start. Else call `WorkerPool.start()`. */
  readonly autoStart?: boolean;
  /** Who holds the leases, for people who read them; default host, process id and a random part. */
  readonly owner?: string;
  readonly clock?: Clock;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
  readonly log?: Log;
}

export interface PoolSettings {
  readonly queues: ReadonlyMap<string, number>;
  readonly threads: number;
  readonly heartbeatTimeoutMs: number;
  readonly healthCheck: boolean;
  readonly leaseMs: number;
  readonly shutdownGraceMs: number;
  readonly keep: PrunePolicy;
  readonly owner: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** Fills in defaults. Throws `invalid_argument` with the option's name. */
export function poolSettings(options: WorkerPoolOptions): PoolSettings {
  return {
    queues: queueSizes(options),
    threads: integerOption('threads', options.threads ?? availableParallelism(), 1, LIMITS.claim),
    heartbeatTimeoutMs: integerOption('heartbeatTimeoutMs', options.heartbeatTimeoutMs ?? 30_000, 1),
    healthCheck: options.healthCheck ?? true,
    leaseMs: integerOption('leaseMs', options.leaseMs ?? 10_000, 1),
    shutdownGraceMs: integerOption('shutdownGraceMs', options.shutdownGraceMs ?? 10_000, 0),
    keep: {
      keepFinishedMs: integerOption('keepFinishedMs', options.keepFinishedMs ?? 86_400_000, 0),
      keepFinished: integerOption('keepFinished', options.keepFinished ?? 100_000, 0, Number.MAX_SAFE_INTEGER),
      keepDeadMs: integerOption('keepDeadMs', options.keepDeadMs ?? 0, 0),
    },
    owner: options.owner ?? `${hostname()}.${process.pid}.${randomBytes(4).toString('hex')}`,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    log: options.log ?? silentLog,
  };
}

function queueSizes({ queues, workers }: WorkerPoolOptions): ReadonlyMap<string, number> {
  if (queues === undefined) return new Map([['default', integerOption('workers', workers ?? 16, 1, LIMITS.claim)]]);
  if (workers !== undefined) throw new InvalidArgumentError('workers', 'must not stand beside queues');
  const sizes = new Map(Object.entries(queues));
  if (sizes.size === 0) throw new InvalidArgumentError('queues', 'must name at least one queue');
  for (const [name, size] of sizes) {
    if (!QUEUE_PATTERN.test(name)) throw new InvalidArgumentError('queues', `'${name}' must match ${QUEUE_PATTERN.source}`);
    integerOption(`queues.${name}`, size, 1, LIMITS.claim);
  }
  return sizes;
}
