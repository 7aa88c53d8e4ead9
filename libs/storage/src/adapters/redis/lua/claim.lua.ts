import { LIMITS } from '../../../contract/index.js';
import { script } from '../script.js';
import { CLOCK, EPOCHS } from './clock.lua.js';
import { JOB, WRITE } from './job.lua.js';
import { LANES } from './lanes.lua.js';
import { MANY, NAMES } from './names.lua.js';

/** Of a joined job. A character that JSON escapes: hardly any text has it. */
export const SEPARATOR = '\x01';

/** Entries that are no ready job any more, cleared away by one call; only damage makes any. */
const MAX_LEFTOVERS = 1000;

/**
 * Hands out ready jobs, for several claims one after the other. There is no gap between hand-out and state: the stream's entry and the
 * job's hash change in this one script. ARGV: this process, then for each claim queue, limit, leaseMs, owner, promote (1 or 0).
 *
 * Replies: the time; 1 if a lane or its group had vanished; then for each claim the jobs, ms until the next job is due ('' for none), and
 * where each lane of the queue ends, if nothing was found. A job is its hash as it was, id, new epoch, starts, and what stands beside the
 * hash; where nothing does, and no text has the separator in it, all of that is joined to one string, which is read fastest.
 */
export const claim = script(
  'claim',
  'drain',
  [NAMES, MANY, CLOCK, EPOCHS, JOB, WRITE, LANES],
  `
local BOOT, SEPARATOR = ARGV[1], '\\1'
local vanished, leftovers = 0, 0
local empty = {}
local due_left = true

-- R10: at most ${LIMITS.promote} a claim, in due order, each to the end of its class.
local function promote()
  if not due_left then return end
  local ids = redis.call('ZRANGEBYSCORE', DELAYED, '-inf', NOW, 'LIMIT', 0, ${LIMITS.promote})
  due_left = #ids == ${LIMITS.promote}
  if #ids == 0 then return end
  many('ZREM', DELAYED, ids)
  for _, id in ipairs(ids) do
    local found = redis.call('HMGET', JOB .. id, 'is', 'kind')
    if found[1] == 'delayed' then
      redis.call('HSET', JOB .. id, 'is', 'ready', 'entry', enter(kind_of(JOB .. id, found[2]), id))
    end
  end
  empty = {}
end

local function hand_out(key, count)
  local reply = redis.pcall('XREADGROUP', 'GROUP', GROUP, BOOT, 'COUNT', count, 'STREAMS', key, '>')
  if reply and reply.err then
    if not string.find(reply.err, 'NOGROUP', 1, true) then error(reply.err) end
    vanished = 1
    make_group(key)
    reply = redis.call('XREADGROUP', 'GROUP', GROUP, BOOT, 'COUNT', count, 'STREAMS', key, '>')
  end
  return reply and reply[1] and reply[1][2] or {}
end

-- One table for the fields that decide, and one for what is written: this is the innermost loop.
local job = {}
local start = { '', 'is', 'active', 'epoch', '', 'starts', '', 'run', '' }

-- The hash decides. An entry that a rebuilt group hands out although its job runs goes back to the process that runs it.
local function reject(key, entry)
  leftovers = leftovers + 1
  if job.entry == entry and job.is == 'active' then
    redis.call('XCLAIM', key, GROUP, string.match(job.run, ' (%S+)'), 0, entry, 'JUSTID')
  else
    redis.call('XACK', key, GROUP, entry)
    redis.call('XDEL', key, entry)
  end
end

local function forget_delivery(id, flat)
  job.id, job.key, job.n, job.n1 = id, start[1], nil, nil
  for at = 1, #flat, 2 do
    if flat[at] == 'n' or flat[at] == 'n1' then job[flat[at]] = flat[at + 1] end
  end
  clear_text(job, 'n')
  redis.call('HDEL', start[1], 'mark', 'percent')
end

-- What holds no text of others, and so no separator.
local OURS = { is = true, entry = true, at = true, kind = true, due = true, epoch = true, starts = true, tries = true, run = true }

local function accept(key, entry, id, run)
  job.is, job.entry, job.epoch, job.starts, job.mark, job.percent = nil, nil, nil, nil, nil, nil
  start[1] = JOB .. (id or '')
  local flat = redis.call('HGETALL', start[1])
  local joins, more = true, false
  for at = 1, #flat, 2 do
    local name, value = flat[at], flat[at + 1]
    job[name] = value
    if not OURS[name] then
      more = more or BESIDE[name]
      joins = joins and not string.find(value, SEPARATOR, 1, true)
    end
  end
  if job.entry ~= entry or job.is ~= 'ready' then return reject(key, entry) end
  local epoch, starts = next_epoch(job.epoch), job.starts and int(job.starts + 1) or '1'
  start[5], start[7], start[9] = epoch, starts, run
  redis.call('HSET', unpack(start))
  if job.mark or job.percent then forget_delivery(id, flat) end
  if more or not joins then return { flat, id, epoch, starts, more and beside(id, flat) or false } end
  local size = #flat
  flat[size + 1], flat[size + 2], flat[size + 3] = id, epoch, starts
  return table.concat(flat, SEPARATOR)
end

local function take(queue, limit, lease_ms, owner)
  local jobs, leases = {}, {}
  local ends = int(now + lease_ms)
  local run = NOW .. ' ' .. BOOT .. ' ' .. owner
  for priority in string.gmatch(priorities(queue), '%d') do
    local key = STREAM .. queue .. ':' .. priority
    local asked, entries
    repeat
      asked = limit - #jobs
      entries = hand_out(key, asked)
      for _, entry in ipairs(entries) do
        local shown = accept(key, entry[1], entry[2] and entry[2][2], run)
        if shown then
          jobs[#jobs + 1] = shown
          leases[#leases + 1] = ends
          leases[#leases + 1] = entry[2][2]
        end
      end
    until #entries < asked or #jobs == limit or leftovers > ${MAX_LEFTOVERS}
    if #jobs == limit then break end
  end
  many('ZADD', LEASES, leases)
  return jobs
end

local function until_due()
  local head = redis.call('ZRANGE', DELAYED, 0, 0, 'WITHSCORES')
  return head[2] and int(head[2] - now) or ''
end

local function ends_of(queue)
  local ends = {}
  for priority in string.gmatch(priorities(queue), '%d') do
    local last = redis.call('XREVRANGE', STREAM .. queue .. ':' .. priority, '+', '-', 'COUNT', 1)
    ends[#ends + 1] = priority
    ends[#ends + 1] = last[1] and last[1][1] or '0-0'
  end
  return ends
end

local replies = { NOW, 0 }
for at = 2, #ARGV, 5 do
  local queue, limit = ARGV[at], tonumber(ARGV[at + 1])
  if ARGV[at + 4] == '1' then promote() end
  local jobs = empty[queue] and {} or take(queue, limit, ARGV[at + 2], ARGV[at + 3])
  if #jobs < limit and leftovers <= ${MAX_LEFTOVERS} then empty[queue] = true end
  local found = #jobs > 0
  replies[#replies + 1] = { jobs, found and '' or until_due(), found and {} or ends_of(queue) }
end
replies[2] = vanished
return replies
`,
);
