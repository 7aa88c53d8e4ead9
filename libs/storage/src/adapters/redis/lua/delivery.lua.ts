/** The third and later requeues wait (R6). */
const FIRST_REQUEUE_THAT_WAITS = 3;

/**
 * How a delivery ends. What goes into an index is collected and written at the end of the script, one command for many jobs: within one
 * script a job ends at most one delivery, so the order among them does not matter.
 */
export const DELIVERY = `
local freed, pending, waiting = {}, {}, {}
local finished = { done = {}, dead = {}, cancelled = {} }
local first_due = nil
local NOW_US = int(now_us)

-- Frees before it takes: the lease and the entry go, whatever becomes of the job.
local function leave(id, kind, entry)
  freed[#freed + 1] = id
  local entries = pending[kind.stream]
  if not entries then
    entries = {}
    pending[kind.stream] = entries
  end
  entries[#entries + 1] = entry
end

local function finish(id, fields, state)
  put(fields, 'is', state)
  put(fields, 'ended', NOW)
  put(finished[state], NOW_US, id)
end

local function delay(id, due)
  put(waiting, int(due), id)
  if not first_due or due < first_due then first_due = due end
end

local function wait(job, fields, delay_ms)
  if delay_ms > 0 then
    delay(job.id, now + delay_ms)
    put(fields, 'is', 'delayed')
    put(fields, 'due', int(now + delay_ms))
  else
    put(fields, 'is', 'ready')
    put(fields, 'entry', enter(job.kind, job.id))
  end
end

local function fail(job, fields, code, message)
  clear_text(job, 'e')
  put(fields, 'err', code)
  put(fields, 'err_at', NOW)
  put_text(fields, job.id, 'e', message)
end

local function count(job, fields, name)
  local value = (job[name] or 0) + 1
  put(fields, name, int(value))
  return value
end

-- min(cap, base * 2^(n-1)) and 0..50 % of it: backoffDelayMs of the contract.
local function backoff(kind, n, random)
  local exponential = math.min(kind.cap, kind.base * 2 ^ math.min(n - 1, 64))
  return math.floor(exponential * (1 + random / 2) + 0.5)
end

local MESSAGES = {
  hung = 'the worker was silent for longer than its heartbeat time-out',
  lease_expired = 'the lease ended before the job did: its process died or was cut off',
}

-- R6. A job whose cancellation was requested is cancelled instead, at no charge.
local function take_away(job, fields, reason, random)
  leave(job.id, job.kind, job.entry)
  put(fields, 'epoch', next_epoch(job.epoch))
  fail(job, fields, reason, MESSAGES[reason])
  if job.cancel then return finish(job.id, fields, 'cancelled') end
  local n = count(job, fields, 'requeues')
  if n > job.kind.max_requeues then return finish(job.id, fields, 'dead') end
  wait(job, fields, n < ${FIRST_REQUEUE_THAT_WAITS} and 0 or backoff(job.kind, n, random))
end

local function file_away()
  many('ZREM', LEASES, freed)
  for key, entries in pairs(pending) do
    for first = 1, #entries, 500 do
      local last = math.min(first + 499, #entries)
      redis.call('XACK', key, GROUP, unpack(entries, first, last))
      redis.call('XDEL', key, unpack(entries, first, last))
    end
  end
  many('ZADD', DELAYED, waiting)
  for state, jobs in pairs(finished) do many('ZADD', NS .. state, jobs) end
  -- Who sleeps until a later due time is woken for the new earliest one.
  if first_due then
    local head = redis.call('ZRANGE', DELAYED, 0, 0, 'WITHSCORES')
    if head[2] and tonumber(head[2]) >= first_due then tell('due', int(first_due)) end
  end
end
`;
