import { CTL_LENGTH } from '../format.js';

/**
 * The storage's clock: Redis TIME, read once and first (case G30). Numbers leave Lua through `int`, for \`tostring\` would write large ones
 * as 1.8e+15. \`tell\` rings the control bell of every process.
 */
export const CLOCK = `
local clock = redis.call('TIME')
local now_us = clock[1] * 1000000 + clock[2]
local now = math.floor(now_us / 1000)

local function int(number) return string.format('%.0f', number) end
local NOW = int(now)

local function tell(...)
  redis.call('XADD', CONTROL, 'MAXLEN', '~', ${CTL_LENGTH}, '*', ...)
end
`;

/** Fencing tokens (R3): above everything this job had, above the clock, above what a forgotten job of the same id may have had. */
export const EPOCHS = `
local lowest, LOWEST = nil, nil
local function next_epoch(epoch)
  if not lowest then
    lowest = math.max(now * 1024, tonumber(redis.call('HGET', FORMAT, 'floor') or 0))
    LOWEST = int(lowest)
  end
  return epoch and epoch + 1 > lowest and int(epoch + 1) or LOWEST
end
`;
