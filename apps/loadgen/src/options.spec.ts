import { parseOptions } from './options.js';

function problems(...argv: string[]): readonly string[] {
  const parsed = parseOptions(argv);
  return parsed.kind === 'bad' ? parsed.problems : [];
}

const URL_FLAG = ['--url', 'http://127.0.0.1:8080'];

describe('parseOptions', () => {
  it('needs an address and has a default for everything else', () => {
    expect(parseOptions(URL_FLAG)).toEqual({
      kind: 'run',
      options: {
        targets: [{ origin: 'http://127.0.0.1:8080', prefix: '' }],
        jobs: 2000,
        workMs: 20,
        failProb: 0,
        hangProb: 0,
        clients: 32,
        label: 'loadgen',
        timeoutMs: 60_000,
        ledgerFile: undefined,
      },
    });
    expect(problems()).toEqual(['--url is needed at least once']);
  });

  it('keeps every address in order, with the path a proxy puts before the service', () => {
    const parsed = parseOptions(['--url', 'http://a:1', '--url=https://b/queue/']);

    expect(parsed).toMatchObject({
      options: {
        targets: [
          { origin: 'http://a:1', prefix: '' },
          { origin: 'https://b', prefix: '/queue' },
        ],
      },
    });
  });

  it('takes the last of a flag that is given twice', () => {
    expect(parseOptions([...URL_FLAG, '--jobs', '1', '--jobs', '2'])).toMatchObject({ options: { jobs: 2 } });
  });

  it('reports all problems at once', () => {
    const found = problems(
      '--url',
      'ftp://x',
      '--jobs',
      '0',
      '--work-ms',
      '-1',
      '--clients=1.5',
      '--fail-prob',
      'x',
      '--hang-prob',
      '1.1',
      '--timeout-s',
      '0',
    );

    for (const name of ['--url', '--jobs', '--work-ms', '--clients', '--fail-prob', '--hang-prob', '--timeout-s']) {
      expect(found.filter((problem) => problem.startsWith(`${name} `))).toHaveLength(1);
    }
  });

  it.each([
    [['--jobs'], '--jobs needs a value'],
    [['--label', '--jobs', '5'], '--label needs a value'],
    [['--nope', '5'], '--nope is not a flag'],
    [['-x'], '-x is not a flag'],
    [['5'], 'unexpected argument "5"'],
    [['--jobs='], '--jobs must be an integer from 1 to 10000000, not ""'],
    [['--jobs', '0x10'], '--jobs must be an integer from 1 to 10000000, not "0x10"'],
    [['--work-ms', 'Infinity'], '--work-ms must be a number from 0 to 86400000, not "Infinity"'],
    [['--ledger='], '--ledger needs the name of a file'],
    [['--url', 'http://user@h'], '--url must be an http or https address without user, query and fragment, not "http://user@h"'],
  ])('refuses %j with one problem', (argv, problem) => {
    expect(problems(...URL_FLAG, ...argv)).toEqual([problem]);
  });
});
