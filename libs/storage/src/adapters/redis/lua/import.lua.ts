import { script } from '../script.js';
import { CLOCK } from './clock.lua.js';
import { DELIVERY } from './delivery.lua.js';
import { CHANGE_IDS, IDS } from './ids.lua.js';
import { JOB, WRITE } from './job.lua.js';
import { LANES } from './lanes.lua.js';
import { MANY, NAMES } from './names.lua.js';

/**
 * Takes jobs of another storage as they were there, each to the end of its state's row. ARGV: epoch floor, then each job; see
 * import-calls.ts. Replies for each job \`imported\`, \`present\` or \`taken\`. A job that is there already is not touched.
 */
export const importJobs = script(
  'import',
  'write',
  [NAMES, MANY, CLOCK, JOB, WRITE, LANES, DELIVERY, IDS, CHANGE_IDS],
  `
local at = 2
local function take()
  at = at + 1
  return ARGV[at - 1]
end

local function take_list()
  local list = {}
  for place = 1, tonumber(take()) do list[place] = take() end
  return list
end

local function take_job()
  return {
    id = take(), created = take(), state = take(), dedupe = take(), due = take(), longest = take(), age = take(),
    kind = take(), fields = take_list(), texts = take_list(), log = take_list(),
  }
end

-- The id of a job that is gone is free, whatever its damage left behind.
local function is_held(dedupe, id)
  local holder = redis.call('GET', DEDUPE .. dedupe)
  return holder and holder ~= id and redis.call('EXISTS', JOB .. holder) == 1
end

local function place(job, fields)
  if job.state == 'ready' then
    put(fields, 'entry', enter(kinds[job.kind] or parse_kind(job.kind), job.id))
  elseif job.state == 'delayed' then
    -- R9: an instant stays what it is; the rest of a duration is never longer than the whole.
    local due = tonumber(job.due)
    if job.longest ~= '' then due = math.min(due, now + tonumber(job.longest)) end
    put(fields, 'due', int(due))
    delay(job.id, due)
  else
    put(finished[job.state], int(now_us - tonumber(job.age) * 1000), job.id)
  end
end

local ids = {}
local function bring_in(job)
  local there = redis.call('HGET', JOB .. job.id, 'at')
  if there then return there == job.created and 'present' or 'taken' end
  local keyed = job.dedupe ~= ''
  if keyed and is_held(job.dedupe, job.id) then return 'taken' end
  local fields = job.fields
  put(fields, 'is', job.state)
  put(fields, 'at', job.created)
  put_kind(fields, job.kind)
  place(job, fields)
  for slot = 1, #job.texts, 2 do put_text(fields, job.id, job.texts[slot], job.texts[slot + 1]) end
  redis.call('UNLINK', LOG .. job.id)
  for _, line in ipairs(job.log) do redis.call('RPUSH', LOG .. job.id, line) end
  if keyed then redis.call('SET', DEDUPE .. job.dedupe, job.id) end
  save(JOB .. job.id, fields)
  ids[#ids + 1] = job.id
  return 'imported'
end

local floor = tonumber(ARGV[1])
if floor > tonumber(redis.call('HGET', FORMAT, 'floor') or 0) then redis.call('HSET', FORMAT, 'floor', int(floor)) end
local replies = {}
local size = #ARGV
while at <= size do replies[#replies + 1] = bring_in(take_job()) end
add_ids(ids, false)
file_away()
return replies
`,
);
