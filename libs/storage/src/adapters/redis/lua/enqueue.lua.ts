import { script } from '../script.js';
import { CLOCK, EPOCHS } from './clock.lua.js';
import { DELIVERY } from './delivery.lua.js';
import { CHANGE_IDS, IDS } from './ids.lua.js';
import { JOB, WRITE } from './job.lua.js';
import { LANES } from './lanes.lua.js';
import { MANY, NAMES } from './names.lua.js';

/**
 * Enqueues the jobs of several calls, one call after the other, each whole or not at all (R12): all of it is checked, then all of it is
 * written. ARGV: whether the ids ascend, the shapes (what many jobs have in common), all ids, each call with its jobs; see enqueue-calls.ts.
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
  local shape = { kind = kind, args = { '', 'is', '', '', '', 'at', NOW }, is_plain = extras == '' }
  put_kind(shape.args, text)
  shape.size = #shape.args
  shape.has_due, shape.has_key, shape.has_print =
    string.find(extras, 'd', 1, true), string.find(extras, 'k', 1, true), string.find(extras, 'p', 1, true)
  shapes[tostring(index)] = shape
end

local ids, keys = {}, {}
for index = 1, tonumber(ARGV[at]) do
  local id = ARGV[at + index]
  ids[index], keys[index] = id, JOB .. id
end
at = at + #ids + 1

-- Made ids ascend and are new: asked for all together, and then no more one by one.
local all_new = ascending
for first = 1, ascending and #keys or 0, 500 do
  all_new = all_new and redis.call('EXISTS', unpack(keys, first, math.min(first + 499, #keys))) == 0
end

local function take()
  local shape, payload = shapes[ARGV[at]], ARGV[at + 1]
  at = at + 2
  if shape.is_plain then return shape, payload end
  local due, dedupe, print
  if shape.has_due then due, at = ARGV[at], at + 1 end
  if shape.has_key then dedupe, at = ARGV[at], at + 1 end
  if shape.has_print then print, at = ARGV[at], at + 1 end
  return shape, payload, due, dedupe, print
end

local function stored(id)
  local found = redis.call('HMGET', JOB .. id, 'is', 'print', 'kind')
  if not found[1] then return nil end
  local kind = kind_of(JOB .. id, found[3])
  return { id = id, state = found[1], print = found[2], queue = kind.queue, type = kind.type }
end

-- R11. The job that stands for this request already; nil for none, false for a conflict.
local function twin_of(id, dedupe, print, fresh)
  local by_id = not all_new and (fresh and fresh.ids[id] or stored(id)) or nil
  local by_key = nil
  if dedupe then
    local holder = redis.call('GET', DEDUPE .. dedupe)
    by_key = fresh and fresh.keys[dedupe] or holder and stored(holder)
  end
  local twin = by_id or by_key
  if not twin then return nil end
  local same = twin.print and twin.print == print and (not by_key or by_key.id == twin.id)
  return same and twin or false
end

-- '+ms' is a duration, '@ms' an instant; what is past is now.
local function due_of(text)
  local ms = tonumber(string.sub(text, 2))
  return string.sub(text, 1, 1) == '+' and now + ms or ms
end

local made = {}
local function make(id, key, shape, payload, due, dedupe, print)
  local args, size = shape.args, shape.size
  local due_ms = due and due_of(due) or now
  local state = due_ms > now and 'delayed' or 'ready'
  args[1], args[3] = key, state
  if state == 'ready' then
    args[4], args[5] = 'entry', enter(shape.kind, id)
  else
    delay(id, due_ms)
    args[4], args[5] = 'due', int(due_ms)
  end
  if print then
    args[size + 1], args[size + 2] = 'print', print
    size = size + 2
  end
  if dedupe then
    size = put_text(args, id, 'k', dedupe, size)
    redis.call('SET', DEDUPE .. dedupe, id)
  end
  size = put_text(args, id, 'p', payload, size)
  redis.call('HSET', unpack(args, 1, size))
  made[#made + 1] = id
  return state
end

local CODES = { ready = 'r', delayed = 'd' }
local function tell_of(job) return { job.id, job.state, job.queue, job.type } end

local function single(nth)
  local id, key = ids[nth], keys[nth]
  local shape, payload, due, dedupe, print = take()
  if not all_new or dedupe then
    local twin = twin_of(id, dedupe, print, nil)
    if twin == false then return 1 end
    if twin then return { tell_of(twin) } end
  end
  return CODES[make(id, key, shape, payload, due, dedupe, print)]
end

-- The jobs of one call, each as what was asked for, or as its twin.
local function several(first, count)
  local fresh = { ids = {}, keys = {} }
  local jobs, conflict = {}, nil
  for index = 1, count do
    local id = ids[first + index - 1]
    local shape, payload, due, dedupe, print = take()
    local twin = not conflict and twin_of(id, dedupe, print, fresh)
    if twin == false then conflict = conflict or index end
    jobs[index] = twin
    if twin == nil then
      local job = { id = id, key = keys[first + index - 1], shape = shape, payload = payload, due = due, dedupe = dedupe, print = print }
      job.queue, job.type = shape.kind.queue, shape.kind.type
      jobs[index], fresh.ids[id] = job, job
      if dedupe then fresh.keys[dedupe] = job end
    end
  end
  if conflict then return conflict end
  for index, job in ipairs(jobs) do
    if job.shape and not job.state then
      job.state = make(job.id, job.key, job.shape, job.payload, job.due, job.dedupe, job.print)
      jobs[index] = CODES[job.state]
    else
      jobs[index] = tell_of(job)
    end
  end
  return jobs
end

local replies, nth = {}, 1
while nth <= #ids do
  local count = tonumber(ARGV[at])
  at = at + 1
  replies[#replies + 1] = count == 1 and single(nth) or several(nth, count)
  nth = nth + count
end
add_ids(made, ascending)
file_away()
return replies
`,
);
