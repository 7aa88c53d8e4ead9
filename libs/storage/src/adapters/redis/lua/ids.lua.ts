/** Ids in one chunk: enough that the chunk itself costs little, few enough that Redis finds a place in its listpack at once. */
const CHUNK = 32;

/**
 * All ids, ascending, for lists: a directory of chunks, each a sorted set of at most ${CHUNK} ids from its start on. One sorted set of all
 * ids would do the same and take three times the memory. Ids that come in order fill one chunk after the other; others split chunks.
 * Invariant: an id stands in the chunk with the greatest start that is not above it. The first chunk starts at ''.
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

local function start_below(id)
  return redis.call('ZREVRANGEBYLEX', CHUNKS, '[' .. id, '-', 'LIMIT', 0, 1)[1] or ''
end

local function start_above(id)
  return redis.call('ZRANGEBYLEX', CHUNKS, '(' .. id, '+', 'LIMIT', 0, 1)[1]
end

local function chunk_of(id)
  local start = start_below(id)
  return { start = start, key = chunk_key(start), following = start_above(id), ids = {} }
end

local function belongs(chunk, id)
  return not is_below(id, chunk.start) and (not chunk.following or is_below(id, chunk.following))
end

local function has_id(id)
  return redis.call('ZSCORE', chunk_key(start_below(id)), id) ~= false
end

local function ids_after(cursor, count)
  local ids = {}
  local start, from = '', '-'
  if cursor ~= '' then start, from = start_below(cursor), '(' .. cursor end
  while start and #ids < count do
    for _, id in ipairs(redis.call('ZRANGEBYLEX', chunk_key(start), from, '+', 'LIMIT', 0, count - #ids)) do ids[#ids + 1] = id end
    start, from = start_above(start), '-'
  end
  return ids
end
`;

/** Changing the index; `ids` are such as are not there yet, or are there. */
export const CHANGE_IDS = `
-- What stood under this name belongs to nobody: somebody has deleted the directory.
local function begin_chunk(start)
  local chunk = { start = start, key = chunk_key(start), size = 0, ids = {} }
  redis.call('UNLINK', chunk.key)
  redis.call('ZADD', CHUNKS, 0, start)
  return chunk
end

local function write_chunk(chunk)
  local members = {}
  for _, id in ipairs(chunk.ids) do
    members[#members + 1] = '0'
    members[#members + 1] = id
  end
  chunk.ids = {}
  many('ZADD', chunk.key, members)
end

local function split(chunk)
  write_chunk(chunk)
  local upper = redis.call('ZRANGE', chunk.key, CHUNK / 2, -1)
  local above = begin_chunk(upper[1])
  above.ids = upper
  write_chunk(above)
  redis.call('ZREMRANGEBYRANK', chunk.key, CHUNK / 2, -1)
end

local function open_chunk(id)
  local chunk = chunk_of(id)
  if chunk.start == '' then redis.call('ZADD', CHUNKS, 0, '') end
  chunk.size = redis.call('ZCARD', chunk.key)
  chunk.highest = not chunk.following and redis.call('ZREVRANGE', chunk.key, 0, 0)[1] or nil
  return chunk
end

local function is_above_all(chunk, id)
  return not chunk.following and (chunk.size == 0 or is_below(chunk.highest, id))
end

-- Where the caller knows that they ascend, only the first of them is compared with what is there.
local function add_ids(ids, ascending)
  local chunk = nil
  for _, id in ipairs(ids) do
    local above_all = chunk and (ascending and chunk.highest_is_new or is_above_all(chunk, id))
    if not above_all and not (chunk and belongs(chunk, id)) then
      if chunk then write_chunk(chunk) end
      chunk = open_chunk(id)
      above_all = is_above_all(chunk, id)
    end
    if above_all and chunk.size >= CHUNK then
      write_chunk(chunk)
      chunk = begin_chunk(id)
    end
    if above_all then chunk.highest, chunk.highest_is_new = id, true end
    chunk.ids[#chunk.ids + 1] = id
    chunk.size = chunk.size + 1
    if chunk.size > CHUNK then
      split(chunk)
      chunk = nil
    end
  end
  if chunk then write_chunk(chunk) end
end

local function clear_chunk(chunk)
  many('ZREM', chunk.key, chunk.ids)
  if chunk.start ~= '' and redis.call('EXISTS', chunk.key) == 0 then redis.call('ZREM', CHUNKS, chunk.start) end
end

local function remove_ids(ids)
  local chunk = nil
  for _, id in ipairs(ids) do
    if not (chunk and belongs(chunk, id)) then
      if chunk then clear_chunk(chunk) end
      chunk = chunk_of(id)
    end
    chunk.ids[#chunk.ids + 1] = id
  end
  if chunk then clear_chunk(chunk) end
end
`;
