import type { Script } from '../script.js';
import { audit, leftovers, mend, orphans, pending, tidy } from './audit.lua.js';
import { claim } from './claim.lua.js';
import { deliver } from './deliver.lua.js';
import { enqueue } from './enqueue.lua.js';
import { importJobs } from './import.lua.js';
import { counts, few, get, list } from './look.lua.js';
import { cancel, redrive } from './operate.lua.js';
import { prune } from './prune.lua.js';
import { reap } from './reap.lua.js';
import { begin, probe } from './session.lua.js';

const SCRIPTS: readonly Script[] = [
  ...[enqueue, importJobs, claim, deliver, reap, cancel, redrive, prune, get, list, few, counts, begin, probe],
  ...[pending, mend, leftovers, orphans, audit, tidy],
];
const CALL = /redis\.p?call\('(\w+)'/g;
const named = SCRIPTS.map((script) => [script.name, script] as const);

describe('the scripts', () => {
  it.each(named)('%s reads the clock at most once, and before anything else (G30)', (_, { source }) => {
    const calls = [...source.matchAll(CALL)].map(([, command]) => command);
    expect(calls.filter((command) => command === 'TIME').length).toBeLessThanOrEqual(1);
    if (calls.includes('TIME')) expect(calls.indexOf('TIME')).toBe(firstRun(source));
  });

  it.each(named)('%s trims no lane (G22)', (_, { source }) => {
    expect(source).not.toMatch(/XTRIM|MINID/);
    for (const [line] of source.matchAll(/.*MAXLEN.*/g)) expect(line).toContain("redis.call('XADD', CONTROL, 'MAXLEN'");
  });

  it.each(named)('%s unpacks nothing that could be long (G17)', (_, { source }) => {
    const unpacked = [...source.matchAll(/unpack\(([^)]*)\)/g)].map(([, what]) => what!);
    const short = ['SLOTS[slot]', 'MORE_KIND', 'fields', 'args, 1, size', 'start', 'keys'];
    for (const what of unpacked) if (!short.includes(what)) expect(what).toMatch(/, (first|last)|first \+ 499/);
  });

  it.each(named)('%s lets no number out as Lua writes it', (_, { source }) => {
    expect(source).not.toMatch(/tostring\((?!index)/);
  });

  it.each(named)('%s takes nothing through JSON (E07)', (_, { source }) => {
    expect(source).not.toMatch(/cjson|cmsgpack/);
  });

  it('refuse on a full Redis what makes jobs, and nothing else', () => {
    const refused = SCRIPTS.filter(({ mode }) => mode === 'write').map(({ name }) => name);
    expect(refused.sort()).toEqual(['enqueue', 'import', 'probe', 'redrive']);
    for (const { mode, source } of SCRIPTS) expect(source.startsWith('#!lua flags=allow-oom\n')).toBe(mode === 'drain');
  });

  it('have names and hashes of their own', () => {
    expect(new Set(SCRIPTS.map(({ name }) => name)).size).toBe(SCRIPTS.length);
    expect(new Set(SCRIPTS.map(({ sha }) => sha)).size).toBe(SCRIPTS.length);
  });
});

/** The place of the first call outside a function: indented code runs later. */
function firstRun(source: string): number {
  let place = 0;
  for (const line of source.split('\n')) {
    const calls = [...line.matchAll(CALL)].length;
    if (calls > 0 && !line.startsWith(' ') && !line.startsWith('local function')) return place;
    place += calls;
  }
  return -1;
}
