import { isFinal, type JobView } from './job-view.js';

/**
 * What readers were shown, and whether a later look contradicts it: a final job stays as it is (I3, I4), an epoch and the count of starts
 * never go down (I4). Jobs that are redriven or pruned are not for this class.
 */
export class SeenJobs {
  readonly #seen = new Map<string, { readonly job: JobView; readonly moment: number }>();
  #moment = 0;
  readonly contradictions: string[] = [];

  /** To be called before a reader asks: what was shown up to here must hold in the answer. */
  asking(): number {
    return this.#moment;
  }

  /** Answers may overtake each other, so one is measured only by what was shown before its question. */
  shown(job: JobView, askedAt: number): void {
    const before = this.#seen.get(job.id);
    if (before && before.moment > askedAt) return;
    if (before) this.contradictions.push(...contradictions(before.job, job));
    this.#seen.set(job.id, { job, moment: ++this.#moment });
  }

  notFound(id: string): void {
    this.contradictions.push(`I1: ${id} was acknowledged, and is not found`);
  }
}

function contradictions(before: JobView, now: JobView): string[] {
  const found: string[] = [];
  const told = `${now.id} was shown ${summary(before)}, and then ${summary(now)}`;
  if (now.epoch < before.epoch) found.push(`I4: the epoch went down: ${told}`);
  if (now.starts < before.starts) found.push(`I4: starts went down: ${told}`);
  if (isFinal(before.state)) {
    if (now.state !== before.state || now.epoch !== before.epoch) found.push(`I3: a final job changed: ${told}`);
    if (now.finished_at !== before.finished_at) found.push(`I3: it ended twice: ${told}`);
  }
  return found;
}

function summary({ state, epoch, starts, finished_at }: JobView): string {
  return `${state} (epoch ${epoch}, starts ${starts}, finished_at ${finished_at})`;
}
