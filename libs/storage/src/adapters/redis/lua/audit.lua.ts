import { script } from '../script.js';
import { CLOCK } from './clock.lua.js';
import { CHANGE_IDS, IDS } from './ids.lua.js';
import { JOB, WRITE } from './job.lua.js';
import { LANES } from './lanes.lua.js';
import { MANY, NAMES } from './names.lua.js';

/** All streams, in an order that stays the same between two calls. */
const STREAMS = `
local function streams()
  local keys = {}
  local flat = redis.call('HGETALL', LANES)
  for at = 1, #flat, 2 do
    for priority in string.gmatch(flat[at + 1], '%d') do keys[#keys + 1] = STREAM .. flat[at] .. ':' .. priority end
  end
  table.sort(keys)
  return keys
end

local function is_error(reply) return type(reply) == 'table' and reply.err end
`;

/**
 * Walks what was handed out and not ended. A running job without a lease gets one: a living owner prolongs it, a dead one's is reaped
 * (case C07). An entry of what does not run goes. ARGV: lease, this process, stream and entry to go on from, how many entries.
 * Replies: leases made; 1 if a stream or its group had vanished; stream and entry to go on from (0 at the end); id and epoch of each job
 * that runs in this process, as Redis knows it.
 */
export const pending = script(
  'pending',
  'drain',
  [NAMES, CLOCK, LANES, STREAMS],
  `
local lease_ms, boot = tonumber(ARGV[1]), ARGV[2]
local from, after, budget = tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
local made, vanished, own = 0, 0, {}

local function look_at(key, entry)
  local found = redis.call('XRANGE', key, entry, entry)
  local id = found[1] and found[1][2][2]
  local job = id and redis.call('HMGET', JOB .. id, 'is', 'entry', 'epoch', 'run') or {}
  if job[1] ~= 'active' or job[2] ~= entry then
    redis.call('XACK', key, GROUP, entry)
    if job[1] ~= 'ready' or job[2] ~= entry then redis.call('XDEL', key, entry) end
    return
  end
  made = made + redis.call('ZADD', LEASES, 'NX', int(now + lease_ms), id)
  if job[4] and string.match(job[4], ' (%S+)') == boot then
    own[#own + 1] = id
    own[#own + 1] = job[3]
  end
end

local keys = streams()
for index = from, #keys do
  local key = keys[index]
  local start = after == '' and '-' or '(' .. after
  after = ''
  local entries = redis.pcall('XPENDING', key, GROUP, start, '+', budget)
  if is_error(entries) then
    vanished = 1
    make_group(key)
    entries = {}
  end
  for _, entry in ipairs(entries) do look_at(key, entry[1]) end
  if #entries == budget then return { made, vanished, index, entries[#entries][1], own } end
  budget = budget - #entries
end
return { made, vanished, 0, '', own }
`,
);

/**
 * Makes the indexes of jobs what their hashes say: where one is missing it is made. ARGV: lease, then ids. Replies with the number of jobs
 * that were mended. Any number of processes may do it at any time; a sound job is only looked at.
 */
export const mend = script(
  'mend',
  'drain',
  [NAMES, MANY, CLOCK, JOB, WRITE, LANES, IDS, CHANGE_IDS],
  `
local lease_ms = tonumber(ARGV[1])
local delivered = {}

local function is_before(one, other)
  local ms, count = string.match(one, '(%d+)-(%d+)')
  local other_ms, other_count = string.match(other, '(%d+)-(%d+)')
  if ms ~= other_ms then return tonumber(ms) < tonumber(other_ms) end
  return tonumber(count) < tonumber(other_count)
end

-- What the group has handed out so far: an entry up to there is not handed out again.
local function delivered_up_to(key)
  if not delivered[key] then
    make_group(key)
    for _, group in ipairs(redis.call('XINFO', 'GROUPS', key)) do
      local facts = {}
      for at = 1, #group, 2 do facts[group[at]] = group[at + 1] end
      if facts.name == GROUP then delivered[key] = facts['last-delivered-id'] end
    end
  end
  return delivered[key]
end

local mends = {}

function mends.ready(job)
  open_lane(job.kind)
  local key, entry = job.kind.stream, job.entry or '0-0'
  local waits = #redis.call('XRANGE', key, entry, entry) > 0 and is_before(delivered_up_to(key), entry)
  if waits then return 0 end
  redis.call('XDEL', key, entry)
  save(job.key, { 'entry', enter(job.kind, job.id) })
  return 1
end

function mends.active(job)
  open_lane(job.kind)
  return redis.call('ZADD', LEASES, 'NX', int(now + lease_ms), job.id)
end

function mends.delayed(job) return redis.call('ZADD', DELAYED, 'NX', job.due or NOW, job.id) end

local function mend_finished(job)
  return redis.call('ZADD', NS .. job.is, 'NX', int((job.ended or now) * 1000), job.id)
end
mends.done, mends.dead, mends.cancelled = mend_finished, mend_finished, mend_finished

local mended = 0
for index = 2, #ARGV do
  local job = read(ARGV[index])
  if job and mends[job.is] and job.kind then
    local changes = mends[job.is](job)
    if not has_id(job.id) then
      add_ids({ job.id })
      changes = changes + 1
    end
    local key = text(job, 'k')
    if key and redis.call('SETNX', DEDUPE .. key, job.id) == 1 then changes = changes + 1 end
    if changes > 0 then mended = mended + 1 end
  end
end
return mended
`,
);

/**
 * Takes ids whose job is gone out of every index. ARGV: id to go on after, how many ids. Replies with the number of those, and the id to go
 * on after, '' at the end.
 */
export const orphans = script(
  'orphans',
  'drain',
  [NAMES, MANY, JOB, IDS, CHANGE_IDS],
  `
local cursor, budget = ARGV[1], tonumber(ARGV[2])
local ids = ids_after(cursor, budget)
local gone = {}
for _, id in ipairs(ids) do
  if redis.call('EXISTS', JOB .. id) == 0 then
    gone[#gone + 1] = id
    local keys = { LOG .. id }
    for slot in pairs(SLOTS) do keys[#keys + 1] = text_key(slot, id) end
    redis.call('UNLINK', unpack(keys))
  end
end
remove_ids(gone)
for _, key in ipairs({ LEASES, DELAYED, DONE, DEAD, CANCELLED }) do many('ZREM', key, gone) end
return { #gone, #ids == budget and ids[#ids] or '' }
`,
);

/**
 * Walks all entries of all lanes and drops those that are not the entry of a ready or active job: nobody would ever take them. ARGV: stream
 * and entry to go on from, how many entries. Replies with stream and entry to go on from (0 at the end).
 */
export const leftovers = script(
  'leftovers',
  'drain',
  [NAMES, STREAMS],
  `
local from, after, budget = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])

local function look_at(key, entry, id)
  local job = id and redis.call('HMGET', JOB .. id, 'is', 'entry') or {}
  if job[2] == entry and (job[1] == 'ready' or job[1] == 'active') then return end
  redis.pcall('XACK', key, GROUP, entry)
  redis.call('XDEL', key, entry)
end

local keys = streams()
for index = from, #keys do
  local key = keys[index]
  local entries = redis.call('XRANGE', key, after == '' and '-' or '(' .. after, '+', 'COUNT', budget)
  after = ''
  for _, entry in ipairs(entries) do look_at(key, entry[1], entry[2][2]) end
  if #entries == budget then return { index, entries[#entries][1] } end
  budget = budget - #entries
end
return { 0, '' }
`,
);

/** Gives one process the right to a full audit, if the last one began long enough ago. ARGV: how long, ms. Replies 1 or 0. */
export const audit = script(
  'audit',
  'drain',
  [NAMES, CLOCK],
  `
local last = tonumber(redis.call('HGET', FORMAT, 'audited') or 0)
if now - last < tonumber(ARGV[1]) then return 0 end
redis.call('HSET', FORMAT, 'audited', NOW)
return 1
`,
);

/**
 * Drops consumers of processes that are gone (case G24), and lanes that nobody used for long. ARGV: this process, how long ago, ms.
 * A consumer that holds anything stays: dropping it would drop what it holds.
 */
export const tidy = script(
  'tidy',
  'drain',
  [NAMES, CLOCK, STREAMS],
  `
local boot, long_ms = ARGV[1], tonumber(ARGV[2])

local function facts_of(flat)
  local facts = {}
  for at = 1, #flat, 2 do facts[flat[at]] = flat[at + 1] end
  return facts
end

local function drop_lane(key, entry)
  redis.call('UNLINK', key)
  local queue, priority = string.match(string.sub(key, #STREAM + 1), '^(.*):(%d)$')
  local rest = string.gsub(redis.call('HGET', LANES, queue) or '', priority, '')
  if rest == '' then redis.call('HDEL', LANES, queue) else redis.call('HSET', LANES, queue, rest) end
end

for _, key in ipairs(streams()) do
  local consumers = redis.pcall('XINFO', 'CONSUMERS', key, GROUP)
  if not is_error(consumers) then
    local left = #consumers
    for _, flat in ipairs(consumers) do
      local consumer = facts_of(flat)
      local gone = consumer.name ~= boot and consumer.idle > long_ms
      if consumer.pending == 0 and (gone or ARGV[3] == 'leave' and consumer.name == boot) then
        redis.call('XGROUP', 'DELCONSUMER', key, GROUP, consumer.name)
        left = left - 1
      end
    end
    local last_ms = tonumber(string.match(facts_of(redis.call('XINFO', 'STREAM', key))['last-generated-id'], '^%d+'))
    if left == 0 and redis.call('XLEN', key) == 0 and now - last_ms > long_ms then drop_lane(key) end
  end
end
return 1
`,
);
