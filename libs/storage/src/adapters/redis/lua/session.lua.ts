import { FORMAT_VERSION } from '../format.js';
import { script } from '../script.js';
import { CLOCK } from './clock.lua.js';
import { NAMES } from './names.lua.js';

/**
 * Begins a session: marks an empty namespace as ours. Replies with the version of what stands there, whether the mark was missing, and
 * where the control stream ends. Runs on a full Redis too: who opens may have come to work it off.
 */
export const begin = script(
  'begin',
  'drain',
  [NAMES],
  `
local fresh = redis.call('HSETNX', FORMAT, 'version', '${FORMAT_VERSION}')
local last = redis.call('XREVRANGE', CONTROL, '+', '-', 'COUNT', 1)
return { redis.call('HGET', FORMAT, 'version'), fresh, last[1] and last[1][1] or '0-0' }
`,
);

/** Proves that an enqueue would be taken: a small write that is refused where an enqueue is. Replies as \`begin\` does. */
export const probe = script(
  'probe',
  'write',
  [NAMES, CLOCK],
  `
local fresh = redis.call('HSETNX', FORMAT, 'version', '${FORMAT_VERSION}')
redis.call('HSET', FORMAT, 'probed', NOW)
local last = redis.call('XREVRANGE', CONTROL, '+', '-', 'COUNT', 1)
return { redis.call('HGET', FORMAT, 'version'), fresh, last[1] and last[1][1] or '0-0' }
`,
);
