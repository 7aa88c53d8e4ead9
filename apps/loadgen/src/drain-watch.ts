import { readObject } from './answer.js';
import { Connection, type Request } from './connection.js';
import type { Target } from './options.js';
import { pause, sharedController, type World } from './world.js';

/** What the targets say at the moment one of them has answered, or has failed to. */
export interface View {
  readonly at: number;
  /** Jobs not yet final, the largest count of any target that is there; nothing when none has given one. */
  readonly outstanding: number | undefined;
  /** Targets that are gone or have not given a count yet. */
  readonly silent: number;
  /** The queue is empty, as far as the targets can say. */
  readonly empty: boolean;
}

export interface WatchPlan {
  /** From the begin of one poll of a target to the begin of its next. */
  readonly everyMs: number;
  readonly signal: AbortSignal;
  readonly until: (view: View) => boolean;
  readonly onView: (view: View) => void;
}

const STATS_TIMEOUT_MS = 5_000;
/** A target that has given no count for this long is gone; the others then speak for the shared queue. */
const GONE_MS = 1_000;

const STATS: Request = { method: 'GET', path: '/stats', headers: null, body: null, timeoutMs: STATS_TIMEOUT_MS };

interface Watched {
  readonly connection: Connection;
  /** The last count, if it was asked for by the watch that goes on. */
  count: number | undefined;
  /** When it last gave a count. */
  heardAt: number;
}

/**
 * Polls /stats of every target for the number of jobs that are left. Each target is polled by itself, so that one that
 * hangs does not hold up the others, and never has more than one request under way.
 */
export class DrainWatch {
  private readonly watched: readonly Watched[];

  constructor(
    targets: readonly Target[],
    private readonly world: World,
    stop: AbortSignal,
  ) {
    this.watched = targets.map((target) => ({
      connection: new Connection(target),
      count: undefined,
      heardAt: world.now(),
    }));
    stop.addEventListener('abort', () => this.close(), { once: true });
  }

  /**
   * Resolves with the first view that `until` accepts, or with nothing once the signal aborts. Every count it judges was
   * asked for after the call: an earlier one would prove nothing about what was acked since. One watch at a time.
   */
  watch(plan: WatchPlan): Promise<View | undefined> {
    if (plan.signal.aborted) return Promise.resolve(undefined);
    for (const target of this.watched) target.count = undefined;
    return new Promise((resolve, reject) => {
      const ended = sharedController();
      const finish = (view?: View): void => {
        plan.signal.removeEventListener('abort', onAbort);
        ended.abort();
        resolve(view);
      };
      const onAbort = (): void => finish();
      plan.signal.addEventListener('abort', onAbort);
      Promise.all(this.watched.map((target) => this.poll(target, plan, ended.signal, finish))).catch(reject);
    });
  }

  /** Ends the requests under way as well. */
  close(): void {
    for (const { connection } of this.watched) connection.destroy();
  }

  private async poll(target: Watched, plan: WatchPlan, ended: AbortSignal, finish: (view: View) => void): Promise<void> {
    while (!ended.aborted) {
      const begunAt = this.world.now();
      const count = await readOutstanding(target.connection);
      // An answer that comes after the end belongs to no watch.
      if (ended.aborted) return;
      target.count = count;
      if (count !== undefined) target.heardAt = this.world.now();
      const view = this.view();
      plan.onView(view);
      if (plan.until(view)) return finish(view);
      await pause(Math.max(1, plan.everyMs - (this.world.now() - begunAt)), ended);
    }
  }

  private view(): View {
    const at = this.world.now();
    const present = this.watched.filter(({ heardAt }) => at - heardAt < GONE_MS);
    const counts = present.map(({ count }) => count);
    const known = counts.filter((count) => count !== undefined);
    return {
      at,
      outstanding: known.length > 0 ? Math.max(...known) : undefined,
      silent: this.watched.length - known.length,
      empty: known.length > 0 && counts.every((count) => count === 0),
    };
  }
}

/** ready + delayed + active; nothing when the target cannot say. */
async function readOutstanding(connection: Connection): Promise<number | undefined> {
  try {
    const answer = await connection.send(STATS);
    if (answer.status !== 200) return undefined;
    const { ready, delayed, active } = readObject(answer.body) ?? {};
    const count = Number(ready) + Number(delayed) + Number(active);
    return Number.isFinite(count) ? count : undefined;
  } catch {
    return undefined;
  }
}
