import { describe, expect, it } from '@jest/globals';
import { MIGRATE_HELP, readMigrateArguments } from './migrate-arguments.js';
import { named, summary } from './migrate-command.js';

function problems(...argv: string[]): readonly string[] {
  const read = readMigrateArguments(argv);
  if (read.kind !== 'problems') throw new Error(`taken as ${JSON.stringify(read)}`);
  return read.problems;
}

describe('the arguments of orchd migrate', () => {
  it.each([
    ['redis:redis://h:1', { storage: 'redis', redisUrl: 'redis://h:1' }],
    ['redis://h:1/2', { storage: 'redis', redisUrl: 'redis://h:1/2' }],
    ['rediss://u:p@h', { storage: 'redis', redisUrl: 'rediss://u:p@h' }],
    ['redis+sentinel://h/m', { storage: 'redis', redisUrl: 'redis+sentinel://h/m' }],
    ['redis:', { storage: 'redis' }],
    ['wal:./new', { storage: 'wal', dataDir: './new' }],
  ])('take %s as a target', (text, to) => {
    expect(readMigrateArguments(['--from', 'wal:a', '--to', text])).toEqual({ kind: 'migrate', from: 'a', to, force: false });
  });

  it('take a prefix and --force', () => {
    const read = readMigrateArguments(['--from=wal:a', '--to=redis:', '--redis-prefix', 'p', '--force']);
    expect(read).toEqual({ kind: 'migrate', from: 'a', to: { storage: 'redis', redisPrefix: 'p' }, force: true });
  });

  it.each([
    ['no source', ['--to', 'redis:'], '--from wal:DIR is missing'],
    ['no folder', ['--from', 'wal:', '--to', 'redis:'], '--from must be wal:DIR'],
    ['Redis as the source', ['--from', 'redis://h', '--to', 'wal:a'], 'out of a log only'],
    ['no target', ['--from', 'wal:a'], '--to redis:URL or wal:NEW_DIR is missing'],
    ['memory as the target', ['--from', 'wal:a', '--to', 'memory'], '--to memory'],
    ['another target', ['--from', 'wal:a', '--to', 'http://u:secret@h'], '--to must be'],
    ['a prefix for a log', ['--from', 'wal:a', '--to', 'wal:b', '--redis-prefix', 'p'], 'for --to redis: only'],
    ['an unknown flag', ['--from', 'wal:a', '--to', 'wal:b', '--fast'], '--fast: unknown flag'],
    ['two sources', ['--from', 'wal:a', '--from', 'wal:b', '--to', 'redis:'], '--from is given twice'],
    ['a word without a flag', ['--from', 'wal:a', '--to', 'wal:b', 'c'], 'without a flag'],
  ])('are refused: %s', (_, argv, problem) => {
    expect(problems(...argv)).toEqual([expect.stringContaining(problem)]);
    expect(problems(...argv).join()).not.toContain('secret');
  });
});

it('the help of orchd migrate fits a terminal of 100 columns', () => {
  for (const line of MIGRATE_HELP.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
});

it('the summary says what was moved, what was there, and what could not be moved', () => {
  const report = { to: 'redis://h (prefix p)', durability: 'fsync', total: 9, imported: 6, present: 2, taken: ['x'] } as const;
  expect(summary('d', report)).toBe('wal:d -> redis://h (prefix p): 9 jobs, 6 moved, 2 there already, 1 not moved; durability fsync');
  expect(named(Array.from({ length: 12 }, (_, i) => `j${i}`))).toBe('j0, j1, j2, j3, j4, j5, j6, j7, j8, j9 and 2 more');
});
