/**
 * The first part of every script: how keys are called (see KEYS.md). The one declared key is `{ns}:fmt`; all others have its hash tag, so
 * they live in the same slot, and a Cluster runs the script where they are.
 */
export const NAMES = `
local FORMAT = KEYS[1]
local NS = string.sub(FORMAT, 1, -4)
local JOB, DEDUPE, LOG, STREAM = NS .. 'j:', NS .. 'd:', NS .. 'l:', NS .. 's:'
local LEASES, DELAYED, CHUNKS, LANES, CONTROL = NS .. 'lease', NS .. 'delayed', NS .. 'ids', NS .. 'lanes', NS .. 'ctl'
local DONE, DEAD, CANCELLED = NS .. 'done', NS .. 'dead', NS .. 'cancelled'
local GROUP = 'orchd'

local function text_key(slot, id) return NS .. slot .. ':' .. id end
`;

/** One command with many arguments, in pieces that the stack of Lua can hold (case G17). The size is even: pairs stay together. */
export const MANY = `
local function many(command, key, args)
  for first = 1, #args, 500 do
    redis.call(command, key, unpack(args, first, math.min(first + 499, #args)))
  end
end
`;
