import assert from 'node:assert/strict';
import type { JobRecord } from '../contract/index.js';

/** What holds for a job at any time, whatever happened to it (R2, R3, and the meaning of the six states). */
export function assertSound(job: JobRecord): void {
  const of = `job ${job.id} (${job.state})`;
  const explained = job.attempts + job.requeues + job.releases;
  const open = job.starts - explained;
  if (job.state === 'active' || job.state === 'done') assert.equal(open, 1, `${of}: starts = attempts + requeues + releases + 1 (R2)`);
  else if (job.state === 'cancelled') assert.ok(open === 0 || open === 1, `${of}: one start at most is unexplained (R2), not ${open}`);
  else assert.equal(open, 0, `${of}: starts = attempts + requeues + releases (R2)`);

  assert.ok(Number.isSafeInteger(job.epoch) && job.epoch >= 0, `${of}: its epoch ${job.epoch} is a safe integer`);
  const final = job.state === 'done' || job.state === 'dead' || job.state === 'cancelled';
  assert.equal(job.finishedAt !== null, final, `${of}: finishedAt stands exactly in a final state`);
  if (job.starts > 0) assert.ok(job.startedAt !== null, `${of}: a started job has startedAt`);
  if (job.cancelRequested)
    assert.ok(job.state === 'active' || job.state === 'cancelled', `${of}: cancelRequested belongs to active or cancelled`);
  if (job.state !== 'done') assert.equal(job.result, null, `${of}: only ack sets a result`);
  if (job.state === 'dead') {
    assert.ok(job.error !== null, `${of}: a dead job says why`);
    // A storage may be told to give a job up early ({dead: true}), never to keep it going beyond its limits.
  } else {
    assert.ok(job.attempts < job.maxAttempts, `${of}: ${job.attempts} attempts of ${job.maxAttempts} and not dead (R5)`);
    assert.ok(job.requeues <= job.maxRequeues, `${of}: ${job.requeues} requeues of ${job.maxRequeues} and not dead (R6)`);
  }
}
