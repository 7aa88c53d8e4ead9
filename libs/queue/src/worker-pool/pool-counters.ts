/** What happened in this process since it started. */
export class PoolCounters {
  /** Failures that led to another attempt. */
  retried = 0;
  /** Deliveries taken away, by the monitor or the reaper of this process. */
  requeued = 0;
  /** Settles that came too late: the storage had given the job to somebody else. */
  staleRejected = 0;
  /** Workers whose slot was given to a new one. */
  replaced = 0;
  /** Handlers left alone that have not come back yet. */
  zombies = 0;
}
