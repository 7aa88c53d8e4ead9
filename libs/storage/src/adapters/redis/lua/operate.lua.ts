import { script } from '../script.js';
import { CLOCK } from './clock.lua.js';
import { JOB, WRITE } from './job.lua.js';
import { LANES } from './lanes.lua.js';
import { MANY, NAMES } from './names.lua.js';

const PARTS = [NAMES, MANY, CLOCK, JOB, WRITE, LANES];

/**
 * Cancels a job that waits, at once; asks for the cancellation of one that runs, and rings every process, for one of them runs it.
 * Replies with the job as it is now, or with the state that refuses ('missing' for no job).
 */
export const cancel = script(
  'cancel',
  'drain',
  PARTS,
  `
local job = read(ARGV[1])
if not job then return 'missing' end
if job.is == 'done' or job.is == 'dead' or job.is == 'cancelled' then return job.is end
if job.is == 'active' then
  if not job.cancel then
    save(job.key, { 'cancel', '1' })
    tell('cancel', job.id, 'epoch', job.epoch)
  end
  return show(job.id)
end
if job.is == 'delayed' then
  redis.call('ZREM', DELAYED, job.id)
else
  redis.call('XDEL', job.kind.stream, job.entry)
end
if job.mark then redis.call('HDEL', job.key, 'mark') end
redis.call('ZADD', CANCELLED, int(now_us), job.id)
save(job.key, { 'is', 'cancelled', 'ended', NOW })
return show(job.id)
`,
);

/** Makes a dead job ready, counters at 0. Replies like cancel. */
export const redrive = script(
  'redrive',
  'write',
  PARTS,
  `
local job = read(ARGV[1])
if not job then return 'missing' end
if job.is ~= 'dead' then return job.is end
redis.call('ZREM', DEAD, job.id)
redis.call('HDEL', job.key, 'starts', 'tries', 'requeues', 'releases', 'ended', 'mark')
save(job.key, { 'is', 'ready', 'entry', enter(job.kind, job.id) })
return show(job.id)
`,
);
