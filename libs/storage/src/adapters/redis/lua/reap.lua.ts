import { script } from '../script.js';
import { CLOCK, EPOCHS } from './clock.lua.js';
import { DELIVERY } from './delivery.lua.js';
import { JOB, WRITE } from './job.lua.js';
import { LANES } from './lanes.lua.js';
import { MANY, NAMES } from './names.lua.js';

/**
 * Takes away the jobs whose lease has ended, the earliest first. ARGV: how many at most, then a random number in [0, 1) for each.
 * Any number of processes may do it at once: whoever comes second finds nothing. Replies with the number of jobs, and of leases looked at.
 */
export const reap = script(
  'reap',
  'drain',
  [NAMES, MANY, CLOCK, EPOCHS, JOB, WRITE, LANES, DELIVERY],
  `
local reaped = 0
local ids = redis.call('ZRANGEBYSCORE', LEASES, '-inf', '(' .. NOW, 'LIMIT', 0, ARGV[1])
for index, id in ipairs(ids) do
  local job = read(id)
  if job and job.is == 'active' then
    local fields = {}
    take_away(job, fields, 'lease_expired', ARGV[index + 1])
    save(job.key, fields)
    reaped = reaped + 1
  else
    freed[#freed + 1] = id
  end
end
file_away()
return { reaped, #ids }
`,
);
