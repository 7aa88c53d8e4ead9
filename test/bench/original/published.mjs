/**
 * What the system that orchd follows has published: a Go service, 2 virtual processors, simulated jobs over HTTP on loopback. The
 * experiments here repeat its own, with the same numbers of jobs and the same lengths of work.
 */
export const PUBLISHED = {
  /** 2000 jobs of 20 ms; jobs/s by number of workers. */
  throughput: { 1: 48.1, 4: 192.0, 16: 758.3, 64: 2830.6 },
  /** 2000 jobs, 20 % of the attempts fail; % of the jobs completed. */
  retries: { off: { completionPct: 80.6 }, on: { completionPct: 99.9, retried: 510 } },
  /** 1000 jobs, 1 % of the attempts hang. */
  healthCheck: { off: { completionPct: 98.7 }, on: { completionPct: 100, requeued: 9, totalS: 1.7 } },
  /** 2000 jobs, 32 clients: s until the last is accepted, and until the last is done. */
  durability: {
    memory: { submitS: 0.2, totalS: 2.64 },
    never: { submitS: 0.21, totalS: 2.66 },
    always: { submitS: 1.09, totalS: 3.02 },
  },
  /** kill -9 after so many of 3000 jobs of 30 ms were accepted. */
  crash: { acceptedBefore: 704, lost: 0, done: 3000 },
};
