/**
 * Ready jobs: one stream for each queue and priority that was ever used, with one consumer group. An entry above the group's last id waits;
 * one that was handed out stays pending until its delivery ends. `{ns}:lanes` says which priorities a queue has, highest first.
 */
export const LANES = `
local opened = {}
local known = {}

local function priorities(queue)
  known[queue] = known[queue] or redis.call('HGET', LANES, queue) or ''
  return known[queue]
end

-- At 0, never at $: whatever stands in the stream already is to be handed out.
local function make_group(key)
  local made = redis.pcall('XGROUP', 'CREATE', key, GROUP, '0', 'MKSTREAM')
  if type(made) == 'table' and made.err and not string.find(made.err, 'BUSYGROUP', 1, true) then error(made.err) end
end

local function open_lane(kind)
  opened[kind.stream] = true
  local digits = priorities(kind.queue)
  if string.find(digits, kind.prio, 1, true) then return end
  make_group(kind.stream)
  local all = { kind.prio }
  for digit in string.gmatch(digits, '%d') do all[#all + 1] = digit end
  table.sort(all, function(one, other) return tonumber(one) > tonumber(other) end)
  known[kind.queue] = table.concat(all)
  redis.call('HSET', LANES, kind.queue, known[kind.queue])
  tell('lane', kind.queue)
end

-- To the end of its class (R10); the entry's id.
local function enter(kind, id)
  if not opened[kind.stream] then open_lane(kind) end
  return redis.call('XADD', kind.stream, '*', 'j', id)
end
`;
