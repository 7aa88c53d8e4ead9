import assert from 'node:assert/strict';
import type { PrunePolicy } from '../contract/index.js';
import { isFinal, type ModelJob } from './model-job.js';

const PRUNED_BY_A_STEP = 1000;

/** R16: how many jobs a step forgets. */
export function prunable(jobs: readonly ModelJob[], policy: PrunePolicy, mono: number): number {
  const finished = jobs.filter(({ state }) => state === 'done' || state === 'cancelled');
  const tooOld = finished.filter((job) => isOlder(job, policy.keepFinishedMs, mono)).length;
  const tooMany = policy.keepFinished === 0 ? 0 : finished.length - policy.keepFinished;
  const dead = jobs.filter((job) => job.state === 'dead' && isOlder(job, policy.keepDeadMs, mono)).length;
  return Math.min(PRUNED_BY_A_STEP, Math.max(tooOld, tooMany, 0) + dead);
}

/** None of the jobs that are gone was younger than one that was kept in the same place. */
export function assertOldest(gone: readonly ModelJob[], kept: readonly ModelJob[]): void {
  for (const job of gone) {
    assert.ok(isFinal(job.state), `the pruned job ${job.id} was final, not ${job.state}`);
    for (const peer of kept) {
      if (!isFinal(peer.state) || (peer.state === 'dead') !== (job.state === 'dead')) continue;
      assert.ok(peer.finished!.latest >= job.finished!.earliest, `${peer.id} is pruned before the younger ${job.id}`);
    }
  }
}

/** "Older than": the walk never asks at the very age, nor where a restart has made the age uncertain. */
function isOlder(job: ModelJob, limitMs: number, mono: number): boolean {
  return limitMs !== 0 && mono - job.finished!.latest > limitMs;
}
