import { createHash } from 'node:crypto';

/**
 * What a script may do: `read`; `write`, refused as a whole when Redis is over maxmemory; or `drain`, which runs then too, because it
 * leads to less memory in the end: a full Redis can be worked off (case G12).
 */
export type ScriptMode = 'read' | 'write' | 'drain';

const FLAGS: Record<ScriptMode, string> = { read: ' flags=no-writes', write: '', drain: ' flags=allow-oom' };

/** A Lua script as it is sent: by its SHA-1, in full only where the server has lost it. */
export interface Script {
  readonly name: string;
  readonly mode: ScriptMode;
  readonly source: string;
  readonly sha: string;
}

/** Puts a script together from shared parts, which come first, and its own body. The first line makes Redis check the mode before it runs. */
export function script(name: string, mode: ScriptMode, parts: readonly string[], body: string): Script {
  const source = `#!lua${FLAGS[mode]}\n${[...parts, body].join('')}`;
  return { name, mode, source, sha: createHash('sha1').update(source).digest('hex') };
}
