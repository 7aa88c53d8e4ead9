import { script } from '../script.js';
import { IDS } from './ids.lua.js';
import { JOB } from './job.lua.js';
import { NAMES } from './names.lua.js';

/** Replies for each id of ARGV the job, or nil. */
export const get = script(
  'get',
  'read',
  [NAMES, JOB],
  `
local jobs = {}
for index, id in ipairs(ARGV) do
  jobs[index] = show(id)
end
return jobs
`,
);

/** Replies with the numbers of jobs: delayed, ready, active, done, dead, cancelled. Ready are the entries of the lanes that are not pending. */
export const counts = script(
  'counts',
  'read',
  [NAMES],
  `
local ready = 0
local lanes = redis.call('HGETALL', LANES)
for at = 1, #lanes, 2 do
  for priority in string.gmatch(lanes[at + 1], '%d') do
    local key = STREAM .. lanes[at] .. ':' .. priority
    local pending = redis.pcall('XPENDING', key, GROUP)
    ready = ready + redis.call('XLEN', key) - (pending.err and 0 or pending[1])
  end
end
local sizes = { redis.call('ZCARD', DELAYED), ready }
for _, key in ipairs({ LEASES, DONE, DEAD, CANCELLED }) do sizes[#sizes + 1] = redis.call('ZCARD', key) end
return sizes
`,
);

/**
 * One step of a list, by id ascending. ARGV: cursor ('' for the beginning), how many jobs at most, how many ids to look at, then state,
 * queue and type ('' for any). Replies with the jobs and the id after which to go on, '' at the end.
 */
export const list = script(
  'list',
  'read',
  [NAMES, JOB, IDS],
  `
local cursor, limit, budget = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local state, queue, type_name = ARGV[4], ARGV[5], ARGV[6]

local any = state == '' and queue == '' and type_name == ''
local function wanted(id)
  local found = redis.call('HMGET', JOB .. id, 'is', 'kind')
  if not found[1] or state ~= '' and found[1] ~= state then return false end
  local kind = kind_of(JOB .. id, found[2])
  return (queue == '' or kind.queue == queue) and (type_name == '' or kind.type == type_name)
end

local ids = ids_after(cursor, budget)
local jobs = {}
for _, id in ipairs(ids) do
  local job = (any or wanted(id)) and show(id)
  if job then jobs[#jobs + 1] = job end
  if #jobs == limit then return { jobs, id } end
end
return { jobs, #ids == budget and ids[#ids] or '' }
`,
);

/**
 * The ids of all jobs in a state, in no order, so that ten dead jobs among a million are found at once. ARGV: state, most ids wanted.
 * Replies with nil where there are more. Sorting is left to the caller: strings in Lua compare by the server's locale.
 */
export const few = script(
  'few',
  'read',
  [NAMES],
  `
local state, most = ARGV[1], tonumber(ARGV[2])
local shelves = { delayed = DELAYED, active = LEASES, done = DONE, dead = DEAD, cancelled = CANCELLED }
if shelves[state] then
  return redis.call('ZCARD', shelves[state]) <= most and redis.call('ZRANGE', shelves[state], 0, -1) or false
end

-- Ready jobs have their entries in the streams; so have the running ones.
local ids = {}
local lanes = redis.call('HGETALL', LANES)
for at = 1, #lanes, 2 do
  for priority in string.gmatch(lanes[at + 1], '%d') do
    local key = STREAM .. lanes[at] .. ':' .. priority
    if redis.call('XLEN', key) > most - #ids then return false end
    for _, entry in ipairs(redis.call('XRANGE', key, '-', '+')) do ids[#ids + 1] = entry[2][2] end
  end
end
return ids
`,
);
