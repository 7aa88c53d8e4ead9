/** Jobs and figures as the API shows them, written down a second time on purpose: these tests judge from outside. */

export type JobState = 'delayed' | 'ready' | 'active' | 'done' | 'dead' | 'cancelled';

export interface JobView {
  readonly id: string;
  readonly queue: string;
  readonly type: string;
  readonly state: JobState;
  readonly dedupe_key: string | null;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly requeues: number;
  readonly releases: number;
  readonly starts: number;
  readonly epoch: number;
  readonly cancel_requested: boolean;
  readonly created_at: number;
  readonly run_at: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly error: { readonly code: string; readonly message: string; readonly at: number } | null;
  readonly progress: { readonly percent: number; readonly note: string | null } | null;
  /** Lists leave these three out. */
  readonly log?: readonly string[];
  readonly payload?: unknown;
  readonly result?: unknown;
}

export interface StatsView extends Readonly<Record<JobState, number>> {
  readonly jobs: number;
  readonly submitted: number;
  readonly retried: number;
  readonly requeued: number;
  readonly stale_rejected: number;
  readonly workers: {
    readonly configured: number;
    readonly healthy: number;
    readonly busy: number;
    readonly replaced: number;
    readonly zombies: number;
  };
  readonly storage: { readonly kind: string; readonly durability: string; readonly writable: boolean; readonly segments?: number };
}

export interface Refusal {
  readonly statusCode: number;
  readonly code: string;
  readonly message: string;
}

export const STATES: readonly JobState[] = ['delayed', 'ready', 'active', 'done', 'dead', 'cancelled'];

export function isFinal(state: JobState): boolean {
  return state === 'done' || state === 'dead' || state === 'cancelled';
}
