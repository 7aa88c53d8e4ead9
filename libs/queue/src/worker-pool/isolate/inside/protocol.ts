import type { DeliveryEndReason } from '../../../handler/handler.js';
import type { Verdict } from '../../../handler/verdict.js';
import type { Job } from '../../../job/job.js';

/*
 * What the pool and a thread or process of its say to each other. One job at a time, so no message names its job:
 *
 *     pool                      thread | process
 *       | start (InsideSettings)   |
 *       |------------------------->| imports the handler's module
 *       |<------- loaded | broken -|
 *       | run                      |
 *       |------------------------->| enters the handler
 *       |<----- notes, beat, ... --|
 *       | abort?                   |
 *       |------------------------->| its signal fires
 *       |<----- returned | threw --|
 *       | close                    |
 *       |------------------------->| close() of the module, exit
 *
 * Messages arrive in order, and a `run` is sent only when the outcome before it has arrived: an abort can never reach the job after its own.
 */

/** What a thread or process is started with. */
export interface InsideSettings {
  /** URL of the handler's module. */
  readonly module: string;
  readonly limits: InsideLimits;
  readonly heartbeatTimeoutMs: number;
  /** Beats closer together than this need not be told one by one; ms. */
  readonly beatEveryMs: number;
}

/** Characters, and lines. The storage's limits, so that what is too long does not cross at all. */
export interface InsideLimits {
  readonly text: number;
  readonly errorMessage: number;
  readonly logLines: number;
  readonly logLine: number;
}

export type ToInside =
  | {
      readonly kind: 'run';
      readonly job: Job<null>;
      /** The payload as it was stored, parsed where the handler runs. */
      readonly payload: string;
      readonly attempt: number;
    }
  | { readonly kind: 'abort'; readonly reason: DeliveryEndReason }
  | { readonly kind: 'close' };

export interface InsideNotes {
  readonly progress?: { readonly percent: number; readonly note?: string };
  readonly log?: readonly string[];
}

export type Outcome =
  | {
      readonly kind: 'returned';
      /** JSON, or null for nothing. */
      readonly result: string | null;
      readonly notes: InsideNotes | null;
    }
  | {
      readonly kind: 'threw';
      readonly message: string;
      readonly stack: string | null;
      readonly verdict: Verdict | null;
      readonly notes: InsideNotes | null;
    };

export type FromInside =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'broken'; readonly message: string; readonly stack: string | null }
  | ({ readonly kind: 'notes' } & InsideNotes)
  | Outcome;

/** Of processes; threads beat in shared memory. */
export interface Beat {
  readonly kind: 'beat';
}

/** The line to the pool, as a thread or a process has it. */
export interface Line {
  send(message: FromInside): void;
  listen(receive: (message: ToInside) => void): void;
  /** The handler is entered: the first sign of life. */
  enter(): void;
  /** A sign of life, told without an event loop. Returns the reason if the pool has said that way that the delivery is over. */
  beat(): DeliveryEndReason | null;
}
