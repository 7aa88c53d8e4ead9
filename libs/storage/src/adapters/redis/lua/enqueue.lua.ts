import { script } from '../script.js';
import { CLOCK, EPOCHS } from './clock.lua.js';
import { DELIVERY } from './delivery.lua.js';
import { CHANGE_IDS, IDS } from './ids.lua.js';
import { JOB, WRITE } from './job.lua.js';
import { LANES } from './lanes.lua.js';
import { MANY, NAMES } from './names.lua.js';

/**
 * Enqueues the jobs of several calls, one call after the other, each whole or not at all (R12): all of it is checked, then all of it is
 * written. ARGV: whether the ids ascend, the shapes (what many jobs have in common), each call with its jobs; see enqueue-calls.ts.
 * Replies for each call: of a single new job \`r\` (ready) or \`d\` (delayed); else for each job that, or the twin that was there already; or
 * the place of a conflict.
 */
export const enqueue = script(
  'enqueue',
  'write',
  [NAMES, MANY, CLOCK, EPOCHS, JOB, WRITE, LANES, DELIVERY, IDS, CHANGE_IDS],
  `
local ascending = ARGV[1] == '1'
local at = 3

-- \`args\` is the HSET of every job of this shape; what differs is put in for each.
local shapes = {}
for index = 1, tonumber(ARGV[2]) do
  local text, extras = ARGV[at], ARGV[at + 1]
  at = at + 2
  local kind = kinds[text] or parse_kind(text)
  local shape = { kind = kind, args = { '', 'is', '', '', '', 'at', NOW } }
  put_kind(shape.args, text)
  shape.size = #shape.args
  shape.has_due, shape.has_key, shape.has_print =
    string.find(extras, 'd', 1, true), string.find(extras, 'k', 1, true), string.find(extras, 'p', 1, true)
  shapes[tostring(index)] = shape
end

local function take_job()
  local shape = shapes[ARGV[at]]
  local job = { shape = shape, id = ARGV[at + 1], payload = ARGV[at + 2] }
  at = at + 3
  if shape.has_due then
    job.due = ARGV[at]
    at = at + 1
  end
  if shape.has_key then
    job.dedupe = ARGV[at]
    at = at + 1
  end
  if shape.has_print then
    job.print = ARGV[at]
    at = at + 1
  end
  return job
end

local function stored(id)
  local found = redis.call('HMGET', JOB .. id, 'is', 'print', 'kind')
  if not found[1] then return nil end
  local kind = kind_of(JOB .. id, found[3])
  return { id = id, state = found[1], print = found[2], queue = kind.queue, type = kind.type }
end

-- R11. The job that stands for this request already; nil for none, false for a conflict.
local function twin_of(job, fresh)
  local by_id = fresh and fresh.ids[job.id] or redis.call('EXISTS', JOB .. job.id) == 1 and stored(job.id)
  local by_key = nil
  if job.dedupe then
    local holder = redis.call('GET', DEDUPE .. job.dedupe)
    by_key = fresh and fresh.keys[job.dedupe] or holder and stored(holder)
  end
  local twin = by_id or by_key
  if not twin then return nil end
  local same = twin.print and twin.print == job.print and (not by_key or by_key.id == twin.id)
  return same and twin or false
end

-- '+ms' is a duration, '@ms' an instant; what is past is now.
local function due_of(text)
  local ms = tonumber(string.sub(text, 2))
  return string.sub(text, 1, 1) == '+' and now + ms or ms
end

local ids = {}
local function make(job)
  local shape, id, payload = job.shape, job.id, job.payload
  local args, size = shape.args, shape.size
  local due = shape.has_due and due_of(job.due) or now
  args[1] = JOB .. id
  if due > now then
    delay(id, due)
    job.state, args[3], args[4], args[5] = 'delayed', 'delayed', 'due', int(due)
  else
    job.state, args[3], args[4], args[5] = 'ready', 'ready', 'entry', enter(shape.kind, id)
  end
  for left = #args, size + 1, -1 do args[left] = nil end
  if job.print then put(args, 'print', job.print) end
  if job.dedupe then
    put_text(args, id, 'k', job.dedupe)
    redis.call('SET', DEDUPE .. job.dedupe, id)
  end
  put_text(args, id, 'p', payload)
  redis.call('HSET', unpack(args))
  ids[#ids + 1] = id
end

local CODES = { ready = 'r', delayed = 'd' }
local function tell_of(job)
  local shape = job.shape
  if shape and not job.told then
    job.told = true
    return CODES[job.state]
  end
  return { job.id, job.state, shape and shape.kind.queue or job.queue, shape and shape.kind.type or job.type }
end

local function single()
  local job = take_job()
  local twin = twin_of(job, nil)
  if twin == false then return 1 end
  if twin then return { tell_of(twin) } end
  make(job)
  return CODES[job.state]
end

local function several(count)
  local fresh = { ids = {}, keys = {} }
  local entries, made, conflict = {}, {}, nil
  for index = 1, count do
    local job = take_job()
    if not conflict then
      local twin = twin_of(job, fresh)
      if twin == false then conflict = index end
      entries[index] = twin or job
      if twin == nil then
        fresh.ids[job.id] = job
        if job.dedupe then fresh.keys[job.dedupe] = job end
        made[#made + 1] = job
      end
    end
  end
  if conflict then return conflict end
  for _, job in ipairs(made) do make(job) end
  for index, job in ipairs(entries) do entries[index] = tell_of(job) end
  return entries
end

local replies = {}
local size = #ARGV
while at <= size do
  local count = ARGV[at]
  at = at + 1
  replies[#replies + 1] = count == '1' and single() or several(tonumber(count))
end
add_ids(ids, ascending)
file_away()
return replies
`,
);
