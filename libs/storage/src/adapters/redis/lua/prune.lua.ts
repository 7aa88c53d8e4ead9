import { script } from '../script.js';
import { CLOCK } from './clock.lua.js';
import { CHANGE_IDS, IDS } from './ids.lua.js';
import { JOB } from './job.lua.js';
import { MANY, NAMES } from './names.lua.js';

/**
 * Forgets the oldest jobs that the policy gives up (R16). ARGV: keepFinishedMs, keepFinished, keepDeadMs, how many at most.
 * The highest epoch of what is forgotten is kept, so that a job which takes such an id later hands out none that a late worker holds.
 */
export const prune = script(
  'prune',
  'drain',
  [NAMES, MANY, CLOCK, JOB, IDS, CHANGE_IDS],
  `
local keep_ms, keep, keep_dead_ms, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

local function oldest(state)
  local flat = redis.call('ZRANGE', NS .. state, 0, limit - 1, 'WITHSCORES')
  local jobs = {}
  for at = 1, #flat, 2 do jobs[#jobs + 1] = { id = flat[at], ended_us = tonumber(flat[at + 1]), shelf = NS .. state } end
  return jobs
end

local function too_old(job, ms) return ms > 0 and now_us - job.ended_us > ms * 1000 end

local given_up = {}
local surplus = keep > 0 and redis.call('ZCARD', DONE) + redis.call('ZCARD', CANCELLED) - keep or 0
local finished = {}
for _, state in ipairs({ 'done', 'cancelled' }) do
  for _, job in ipairs(oldest(state)) do finished[#finished + 1] = job end
end
table.sort(finished, function(one, other)
  return one.ended_us < other.ended_us or one.ended_us == other.ended_us and one.id < other.id
end)
for _, job in ipairs(finished) do
  if #given_up == limit or not (surplus > 0 or too_old(job, keep_ms)) then break end
  surplus = surplus - 1
  given_up[#given_up + 1] = job
end
for _, job in ipairs(oldest('dead')) do
  if #given_up == limit or not too_old(job, keep_dead_ms) then break end
  given_up[#given_up + 1] = job
end

local floor = tonumber(redis.call('HGET', FORMAT, 'floor') or 0)
local ids, gone = {}, {}
for _, forgotten in ipairs(given_up) do
  local id = forgotten.id
  ids[#ids + 1] = id
  gone[forgotten.shelf] = gone[forgotten.shelf] or {}
  gone[forgotten.shelf][#gone[forgotten.shelf] + 1] = id
  local job = read(id)
  if job then
    floor = math.max(floor, (job.epoch or 0) + 1)
    local key = text(job, 'k')
    if key and redis.call('GET', DEDUPE .. key) == id then redis.call('UNLINK', DEDUPE .. key) end
  end
  local keys = { JOB .. id, LOG .. id }
  for slot in pairs(SLOTS) do keys[#keys + 1] = text_key(slot, id) end
  redis.call('UNLINK', unpack(keys))
end
for key, members in pairs(gone) do many('ZREM', key, members) end
remove_ids(ids)
if #ids > 0 then redis.call('HSET', FORMAT, 'floor', string.format('%.0f', floor)) end
return #ids
`,
);
