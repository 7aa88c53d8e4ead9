import { IMPLIED, INLINE_BYTES, PIECE_BYTES, PIECES } from '../format.js';

const TEXTS = ['p', 'r', 'e', 'n', 'k'];

function slotOf(slot: string): string {
  const names = Array.from({ length: PIECES }, (_, piece) => `'${slot}${piece + 1}'`);
  return `${slot} = { ${names.join(', ')} }`;
}

/**
 * Reading a job. Its hash holds no value above ${PIECE_BYTES} bytes, so that Redis keeps it as a listpack: texts are cut into pieces (\`p1\`,
 * \`p2\` ...), and one of more than ${INLINE_BYTES} bytes has a key of its own and the mark \`@\` in the hash. Texts are opaque here.
 *
 * A job's kind is what it shares with many others, in one field that is parsed once a script: queue, type, and, unless all are implied,
 * priority, most attempts, most requeues, time-out, base and cap of the backoff.
 */
export const JOB = `
local PIECE, PIECES, INLINE = ${PIECE_BYTES}, ${PIECES}, ${INLINE_BYTES}
-- Written out: made anew by every call, they would be a third of what a small one costs.
local SLOTS = { ${TEXTS.map(slotOf).join(', ')} }
local BESIDE = { log = true, ${TEXTS.map((slot) => `${slot} = true`).join(', ')} }
local MORE_KIND = { 'kind2', 'kind3', 'kind4', 'kind5', 'kind6' }

local kinds = {}
local function parse_kind(text)
  local queue, type_name, numbers = string.match(text, '^(%S+) (%S+) ?(.*)$')
  local limits = {}
  for number in string.gmatch(numbers, '%d+') do limits[#limits + 1] = tonumber(number) end
  local kind = {
    queue = queue, type = type_name, prio = string.format('%d', limits[1] or ${IMPLIED.priority}),
    max_tries = limits[2] or ${IMPLIED.maxAttempts}, max_requeues = limits[3] or ${IMPLIED.maxRequeues},
    base = limits[5] or ${IMPLIED.baseMs}, cap = limits[6] or ${IMPLIED.capMs},
  }
  kind.stream = STREAM .. queue .. ':' .. kind.prio
  kinds[text] = kind
  return kind
end

-- A kind that fills its field may go on in others.
local function kind_of(key, text)
  if #text == PIECE then
    for _, piece in ipairs(redis.call('HMGET', key, unpack(MORE_KIND))) do text = text .. (piece or '') end
  end
  return kinds[text] or parse_kind(text)
end

local function read(id)
  local flat = redis.call('HGETALL', JOB .. id)
  if #flat == 0 then return nil end
  local job = { id = id, key = JOB .. id, flat = flat }
  for at = 1, #flat, 2 do job[flat[at]] = flat[at + 1] end
  job.kind = job.kind and kind_of(job.key, job.kind)
  return job
end

local function text(job, slot)
  local names = SLOTS[slot]
  if not job[names[1]] then return job[slot] and redis.call('GET', text_key(slot, job.id)) end
  local pieces = {}
  for piece = 1, PIECES do pieces[piece] = job[names[piece]] end
  return table.concat(pieces)
end

-- What stands beside the hash, as names and values.
local function beside(id, flat)
  local found = false
  for at = 1, #flat, 2 do
    local name = flat[at]
    if BESIDE[name] then
      found = found or {}
      found[#found + 1] = name
      found[#found + 1] = name == 'log' and redis.call('LRANGE', LOG .. id, 0, -1) or redis.call('GET', text_key(name, id))
    end
  end
  return found
end

local function show(id)
  local flat = redis.call('HGETALL', JOB .. id)
  return #flat > 0 and { id, flat, beside(id, flat) }
end
`;

/** Writing a job. `fields` collects the arguments of one HSET. */
export const WRITE = `
local function put(fields, name, value)
  fields[#fields + 1] = name
  fields[#fields + 1] = value
end

-- All of it is ASCII.
local function put_kind(fields, text)
  put(fields, 'kind', string.sub(text, 1, PIECE))
  for piece = 2, math.ceil(#text / PIECE) do
    put(fields, MORE_KIND[piece - 1], string.sub(text, (piece - 1) * PIECE + 1, piece * PIECE))
  end
end

-- Pieces end between characters, for each is decoded by itself. Written behind the first \`size\` fields, else behind all; how many there are then.
local function put_text(fields, id, slot, value, size)
  local last = size or #fields
  local length = #value
  if length > INLINE then
    fields[last + 1], fields[last + 2] = slot, '@'
    redis.call('SET', text_key(slot, id), value)
    return last + 2
  end
  local names, piece, from = SLOTS[slot], 1, 1
  repeat
    local to = from + PIECE - 1
    while to < length and bit.band(string.byte(value, to + 1), 192) == 128 do to = to - 1 end
    fields[last + 1], fields[last + 2] = names[piece], string.sub(value, from, to)
    last, piece, from = last + 2, piece + 1, to + 1
  until from > length
  return last
end

local function clear_text(job, slot)
  if job[slot] then redis.call('UNLINK', text_key(slot, job.id)) end
  if job[slot] or job[SLOTS[slot][1]] then redis.call('HDEL', job.key, slot, unpack(SLOTS[slot])) end
end

local function save(key, fields)
  redis.call('HSET', key, unpack(fields))
end
`;
