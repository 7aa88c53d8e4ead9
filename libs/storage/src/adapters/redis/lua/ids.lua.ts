/** Ids in one chunk: enough that the chunk itself costs little, few enough that one in the middle of it is quickly found. */
const CHUNK = 32;

/**
 * All ids, ascending, for lists: a directory of chunks, each a list of at most ${CHUNK} ids from its start on. One sorted set of all ids
 * would do the same, take three times the memory, and look for the place of each. Ids that come in order fill one chunk after the other;
 * others split chunks. Invariant: an id stands in the chunk with the greatest start that is not above it. The first chunk starts at ''.
 */
export const IDS = `
local CHUNK = ${CHUNK}

-- Not Lua's <, which goes by the locale of the server.
local function is_below(one, other)
  for at = 1, math.min(#one, #other) do
    local byte, other_byte = string.byte(one, at), string.byte(other, at)
    if byte ~= other_byte then return byte < other_byte end
  end
  return #one < #other
end

local function chunk_key(start) return NS .. 'i:' .. start end

local function ids_of(start) return redis.call('LRANGE', chunk_key(start), 0, -1) end

local function start_below(id)
  return redis.call('ZREVRANGEBYLEX', CHUNKS, '[' .. id, '-', 'LIMIT', 0, 1)[1] or ''
end

local function start_above(id)
  return redis.call('ZRANGEBYLEX', CHUNKS, '(' .. id, '+', 'LIMIT', 0, 1)[1]
end

local function has_id(id)
  return redis.call('LPOS', chunk_key(start_below(id)), id) ~= false
end

local function ids_after(cursor, count)
  local ids = {}
  local start = start_below(cursor)
  while start and #ids < count do
    for _, id in ipairs(ids_of(start)) do
      if #ids < count and (cursor == '' or is_below(cursor, id)) then ids[#ids + 1] = id end
    end
    start, cursor = start_above(start), ''
  end
  return ids
end
`;

/** Changing the index; `ids` are such as are not there yet, or are there. */
export const CHANGE_IDS = `
local function belongs(id, start, following)
  return not is_below(id, start) and (not following or is_below(id, following))
end

-- What stood under this name belongs to nobody: somebody has deleted the directory.
local function begin_chunk(start)
  redis.call('UNLINK', chunk_key(start))
  redis.call('ZADD', CHUNKS, 0, start)
end

-- Where nothing is above the chunk of that start, which holds so many: \`ids\` from the one at \`from\` on.
local function append(start, size, ids, from)
  while ids[from] do
    if size >= CHUNK then
      start, size = ids[from], 0
      begin_chunk(start)
    end
    local last = math.min(from + CHUNK - size, #ids + 1) - 1
    redis.call('RPUSH', chunk_key(start), unpack(ids, from, last))
    size, from = size + last - from + 1, last + 1
  end
end

local function insert_one(start, id)
  local all = ids_of(start)
  local low, high = 1, #all + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if is_below(all[middle], id) then low = middle + 1 else high = middle end
  end
  if all[low] == id then return end
  if not all[low] then redis.call('RPUSH', chunk_key(start), id) else redis.call('LINSERT', chunk_key(start), 'BEFORE', all[low], id) end
  if #all < CHUNK then return end
  local upper = redis.call('LRANGE', chunk_key(start), CHUNK / 2, -1)
  redis.call('LTRIM', chunk_key(start), 0, CHUNK / 2 - 1)
  begin_chunk(upper[1])
  append(upper[1], 0, upper, 1)
end

-- Those from \`from\` to \`last\`, which all belong to the chunk.
local function insert(start, ids, from, last)
  if from == last then return insert_one(start, ids[from]) end
  local merged = {}
  for _, old in ipairs(ids_of(start)) do
    while from <= last and is_below(ids[from], old) do
      merged[#merged + 1] = ids[from]
      from = from + 1
    end
    if ids[from] == old then from = from + 1 end
    merged[#merged + 1] = old
  end
  for at = from, last do merged[#merged + 1] = ids[at] end
  redis.call('UNLINK', chunk_key(start))
  append(start, 0, merged, 1)
end

-- \`ids\` that do not ascend are put in order.
local function add_ids(ids, ascending)
  if not ascending then table.sort(ids, is_below) end
  local start = redis.call('ZREVRANGE', CHUNKS, 0, 0)[1]
  if not start then
    start = ''
    begin_chunk(start)
  end
  local highest = redis.call('LINDEX', chunk_key(start), -1) or start
  local from = 1
  while ids[from] and not is_below(highest, ids[from]) do
    local below = start_below(ids[from])
    local following, last = start_above(below), from
    while last < #ids and not is_below(highest, ids[last + 1]) and belongs(ids[last + 1], below, following) do last = last + 1 end
    insert(below, ids, from, last)
    from = last + 1
  end
  if from > 1 then start = redis.call('ZREVRANGE', CHUNKS, 0, 0)[1] end
  if ids[from] then append(start, redis.call('LLEN', chunk_key(start)), ids, from) end
end

local function remove_ids(ids)
  local start, following = nil, nil
  local function left()
    if start and start ~= '' and redis.call('EXISTS', chunk_key(start)) == 0 then redis.call('ZREM', CHUNKS, start) end
  end
  for _, id in ipairs(ids) do
    if not start or not belongs(id, start, following) then
      left()
      start = start_below(id)
      following = start_above(start)
    end
    redis.call('LREM', chunk_key(start), 1, id)
  end
  left()
end
`;
