import { LIMITS } from '../../../contract/index.js';
import { script } from '../script.js';
import { CLOCK, EPOCHS } from './clock.lua.js';
import { DELIVERY } from './delivery.lua.js';
import { JOB, WRITE } from './job.lua.js';
import { LANES } from './lanes.lua.js';
import { MANY, NAMES } from './names.lua.js';

/**
 * All that a worker says about its delivery: prolonged, noted, ended. Each acts only while the job is active with exactly this epoch (R3);
 * the same end again is success while nothing happened since (R4). ARGV: for each op a letter, the job, its epoch, and what the letter
 * takes; see delivery-ops.ts. Replies for each op 1 (done, held), 2 (held, and its cancellation is requested) or 0 (lost).
 */
export const deliver = script(
  'deliver',
  'drain',
  [NAMES, MANY, CLOCK, EPOCHS, JOB, WRITE, LANES, DELIVERY],
  `
local LOST, HELD, CANCEL = 0, 1, 2
local leases = {}

-- R4. A requeue raises the epoch, so its mark has the one that ended; all others end the epoch that the job still has.
local function mark_of(letter, epoch, digest)
  return letter == 'q' and letter .. digest .. ' ' .. epoch or letter .. digest
end

local function repeated(key, letter, epoch, digest)
  local found = redis.call('HMGET', key, 'epoch', 'mark')
  local same = found[2] == mark_of(letter, epoch, digest) and (letter == 'q' or found[1] == epoch)
  return same and HELD or LOST
end

-- The common end, and the shortest.
local function ack(id, epoch, digest, result)
  local key = JOB .. id
  local job = redis.call('HMGET', key, 'is', 'epoch', 'entry', 'kind', 'cancel')
  if job[1] ~= 'active' or job[2] ~= epoch then return repeated(key, 'a', epoch, digest) end
  leave(id, kind_of(key, job[4]), job[3])
  if job[5] then
    put(finished.cancelled, NOW_US, id)
    redis.call('HSET', key, 'is', 'cancelled', 'ended', NOW)
    return LOST
  end
  put(finished.done, NOW_US, id)
  if not result then
    redis.call('HSET', key, 'is', 'done', 'ended', NOW, 'mark', 'a' .. digest)
    return HELD
  end
  local fields = { 'is', 'done', 'ended', NOW, 'mark', 'a' .. digest }
  put_text(fields, id, 'r', result)
  save(key, fields)
  return HELD
end

-- What each other end makes of a job that is not to be cancelled.
local ends = {}

function ends.n(job, fields, retry)
  local tries = count(job, fields, 'tries')
  if retry == 'dead' or tries >= job.kind.max_tries then finish(job.id, fields, 'dead') else wait(job, fields, tonumber(retry)) end
end

function ends.l(job, fields, delay_ms)
  count(job, fields, 'releases')
  wait(job, fields, tonumber(delay_ms))
end

local function settle(letter, id, epoch, digest, one, two, three)
  local job = read(id)
  if not job or job.is ~= 'active' or job.epoch ~= epoch then return repeated(JOB .. id, letter, epoch, digest) end
  local fields = { 'mark', mark_of(letter, epoch, digest) }
  if letter == 'q' then
    take_away(job, fields, one, two)
  else
    leave(id, job.kind, job.entry)
    if letter == 'n' then fail(job, fields, two, three) end
    if job.cancel then finish(id, fields, 'cancelled') else ends[letter](job, fields, one) end
  end
  save(job.key, fields)
  return HELD
end

local function extend(id, epoch, lease_ms)
  local job = redis.call('HMGET', JOB .. id, 'is', 'epoch', 'cancel')
  if job[1] ~= 'active' or job[2] ~= epoch then return LOST end
  put(leases, int(now + lease_ms), id)
  return job[3] and CANCEL or HELD
end

local function note(id, epoch, percent, text, lines)
  local job = read(id)
  if not job or job.is ~= 'active' or job.epoch ~= epoch then return LOST end
  local fields = {}
  if percent then
    clear_text(job, 'n')
    put(fields, 'percent', percent)
    if text then put_text(fields, id, 'n', text) end
  end
  if #lines > 0 then
    many('RPUSH', LOG .. id, lines)
    redis.call('LTRIM', LOG .. id, -${LIMITS.logLines}, -1)
    put(fields, 'log', '1')
  end
  if #fields > 0 then save(job.key, fields) end
  return HELD
end

local function take_note(at)
  local percent, has_text = ARGV[at + 3], ARGV[at + 4] == '1'
  local first = at + (has_text and 7 or 6)
  local lines = {}
  for line = 1, tonumber(ARGV[first - 1]) do lines[line] = ARGV[first + line - 1] end
  return note(ARGV[at + 1], ARGV[at + 2], percent ~= '' and percent or nil, has_text and ARGV[at + 5] or nil, lines), first + #lines
end

local replies = {}
local at, size = 1, #ARGV
while at <= size do
  local letter, id, epoch, digest = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local reply
  if letter == 'a' then
    reply, at = ack(id, epoch, digest), at + 4
  elseif letter == 'A' then
    reply, at = ack(id, epoch, digest, ARGV[at + 4]), at + 5
  elseif letter == 'x' then
    reply, at = extend(id, epoch, ARGV[at + 3]), at + 4
  elseif letter == 'n' then
    reply, at = settle(letter, id, epoch, digest, ARGV[at + 4], ARGV[at + 5], ARGV[at + 6]), at + 7
  elseif letter == 'l' then
    reply, at = settle(letter, id, epoch, digest, ARGV[at + 4]), at + 5
  elseif letter == 'q' then
    reply, at = settle(letter, id, epoch, digest, ARGV[at + 4], ARGV[at + 5]), at + 6
  else
    reply, at = take_note(at)
  end
  replies[#replies + 1] = reply
end
many('ZADD', LEASES, leases)
file_away()
return replies
`,
);
