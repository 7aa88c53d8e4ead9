import { describe, expect, it } from '@jest/globals';
import { readWalArguments, WAL_HELP } from './wal-arguments.js';

function problems(...argv: string[]): readonly string[] {
  const read = readWalArguments(argv);
  if (read.kind !== 'problems') throw new Error(`taken as ${JSON.stringify(read)}`);
  return read.problems;
}

describe('the arguments of orchd wal', () => {
  it.each(['verify', 'dump'])('%s takes a folder', (kind) => {
    expect(readWalArguments([kind, './data'])).toEqual({ kind, dir: './data' });
  });

  it.each([
    ['--to behind DIR', ['salvage', 'a', '--to', 'b']],
    ['--to before DIR', ['salvage', '--to=b', 'a']],
    ['no --to, as the refusal of a damaged log has it', ['salvage', 'a', 'b']],
  ])('salvage takes two folders: %s', (_how, argv) => {
    expect(readWalArguments(argv)).toEqual({ kind: 'salvage', dir: 'a', to: 'b' });
  });

  it('may be a folder that looks like a flag, behind --', () => {
    expect(readWalArguments(['verify', '--', '--help'])).toEqual({ kind: 'verify', dir: '--help' });
  });

  it.each([['--help'], ['-h'], ['dump', '--help'], ['nonsense', '-h']])('ask for help: %s %s', (...argv) => {
    expect(readWalArguments(argv)).toEqual({ kind: 'help' });
  });
});

describe('bad arguments of orchd wal', () => {
  it.each([
    ['no command', [], 'verify, dump or salvage'],
    ['an unknown command', ['fix', 'a'], '"fix" is none of'],
    ['a command that every object has', ['constructor', 'a'], '"constructor" is none of'],
    ['no DIR', ['verify'], 'verify: DIR is missing'],
    ['an empty DIR', ['dump', ''], 'dump: DIR is missing'],
    ['no NEW_DIR', ['salvage', 'a'], 'salvage: --to NEW_DIR is missing'],
    ['an empty NEW_DIR', ['salvage', 'a', '--to='], 'salvage: --to NEW_DIR is missing'],
    ['--to without a value', ['salvage', 'a', '--to'], 'salvage: --to NEW_DIR is missing'],
    ['--to where nothing is copied', ['verify', 'a', '--to', 'b'], 'verify: --to is for salvage only'],
    ['NEW_DIR twice', ['salvage', 'a', 'b', '--to', 'c'], 'salvage: "b" is one argument too many'],
    ['two folders to look at', ['verify', 'a', 'b'], 'verify: "b" is one argument too many'],
    ['an unknown flag', ['verify', 'a', '--force'], '--force: unknown flag'],
  ])('%s', (_what, argv, problem) => {
    expect(problems(...argv)).toEqual([expect.stringContaining(problem)]);
  });

  it('are told all at once', () => {
    expect(problems('salvage', '--force')).toHaveLength(3);
  });
});

it('the help of orchd wal fits a terminal of 100 columns', () => {
  for (const line of WAL_HELP.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
});
