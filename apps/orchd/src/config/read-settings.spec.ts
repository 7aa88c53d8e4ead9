import { describe, expect, it } from '@jest/globals';
import { readSettings } from './read-settings.js';
import { SETTING_TABLE, environmentName } from './setting-table.js';
import type { Settings } from './settings.js';

function settings(argv: string[] = [], environment: NodeJS.ProcessEnv = {}): Settings {
  const command = readSettings(argv, environment);
  if (command.kind !== 'run') throw new Error(`not runnable: ${JSON.stringify(command)}`);
  return command.settings;
}

function problems(argv: string[], environment: NodeJS.ProcessEnv = {}): readonly string[] {
  const command = readSettings(argv, environment);
  return command.kind === 'problems' ? command.problems : [];
}

describe('settings', () => {
  it('have the documented defaults', () => {
    expect(settings()).toEqual({
      port: 8080,
      host: '127.0.0.1',
      storage: 'wal',
      dataDir: './data',
      fsync: 'always',
      walSegmentBytes: 16_777_216,
      force: false,
      redisUrl: 'redis://127.0.0.1:6379',
      redisPrefix: 'orchd',
      role: 'all',
      queues: [{ name: 'default', workers: null }],
      workers: 16,
      handlers: null,
      httpAllow: [],
      maxAttempts: 5,
      maxRequeues: 10,
      retryBaseMs: 10,
      retryCapMs: 60_000,
      hbTimeoutMs: 200,
      healthCheck: true,
      leaseMs: 10_000,
      shutdownGraceMs: 10_000,
      keepFinishedMs: 86_400_000,
      keepFinished: 100_000,
      keepDeadMs: 0,
    });
  });

  it('are taken from the environment rather than from the defaults', () => {
    expect(settings([], { ORCHD_PORT: '9', ORCHD_HEALTH_CHECK: 'off' })).toMatchObject({ port: 9, healthCheck: false });
  });

  it('are taken from flags rather than from the environment, written in either way', () => {
    const environment = { ORCHD_PORT: '9', ORCHD_DATA_DIR: '/a' };
    expect(settings(['--port', '10', '--data-dir=/b'], environment)).toMatchObject({ port: 10, dataDir: '/b' });
  });

  it('ignore a bad environment variable that a flag overrules', () => {
    expect(settings(['--port', '10'], { ORCHD_PORT: 'tcp://10.0.0.1:80' }).port).toBe(10);
  });

  it('take --force alone for on, and a value where one is written', () => {
    expect(settings(['--force', '--workers', '2'])).toMatchObject({ force: true, workers: 2 });
    expect(settings(['--force=off'], { ORCHD_FORCE: 'on' }).force).toBe(false);
    expect(problems(['--force=yes'])).toEqual([expect.stringContaining('--force (ORCHD_FORCE): must be on or off')]);
  });

  it('take the last of a flag given twice', () => {
    expect(settings(['--workers', '1', '--workers', '2']).workers).toBe(2);
  });

  it.each(Object.values(SETTING_TABLE).map(({ flag, default: preset }) => [flag, preset]))(
    '--%s accepts its own default, as a flag and from the environment',
    (flag, preset) => {
      expect(problems([`--${flag}=${preset}`])).toEqual([]);
      expect(problems([], { [environmentName(flag)]: preset })).toEqual([]);
    },
  );

  it('name queues and their workers', () => {
    expect(settings(['--queues', 'mail:4,default']).queues).toEqual([
      { name: 'mail', workers: 4 },
      { name: 'default', workers: null },
    ]);
  });
});

describe('a bad setting', () => {
  it.each([
    '',
    ' ',
    '1 ',
    '0x10',
    '1e3',
    'NaN',
    'Infinity',
    '-1',
    '+1',
    '1.0',
    '1_000',
    '01',
    '٣',
    '9007199254740993',
    'tcp://10.0.0.1:80',
  ])('--port %j is refused', (text) => {
    expect(problems([`--port=${text}`])).toEqual([expect.stringContaining('--port (ORCHD_PORT): must be a whole number 0..65535')]);
    expect(problems([], { ORCHD_PORT: text })).toHaveLength(1);
  });

  it.each([
    ['--port', '65536'],
    ['--workers', '0'],
    ['--max-attempts', '0'],
    ['--max-attempts', '1001'],
    ['--max-requeues', '-1'],
    ['--storage', 'Wal'],
    ['--fsync', 'yes'],
    ['--health-check', 'true'],
    ['--role', ''],
    ['--data-dir', ''],
    ['--host', ' '],
    ['--wal-segment-bytes', '65535'],
    ['--redis-url', 'http://x'],
    ['--redis-url', 'localhost'],
    ['--redis-prefix', '{x}'],
    ['--hb-timeout-ms', '0'],
    ['--lease-ms', '0'],
    ['--queues', ''],
    ['--queues', 'a,a'],
    ['--queues', 'a:0'],
    ['--queues', 'a:1:2'],
    ['--queues', 'a,'],
    ['--queues', '../a'],
  ])('%s %j is refused', (flag, text) => {
    expect(problems([flag, text])).toEqual([expect.stringContaining(`${flag} (${environmentName(flag.slice(2))}): `)]);
  });

  it('is reported together with every other one', () => {
    const found = problems(['--port', 'x', '--nope', 'stray', '--fsync=often'], { ORCHD_WORKERS: '-3' });
    expect(found).toHaveLength(5);
    for (const name of ['--port', '--nope', '"stray"', '--fsync', '--workers (ORCHD_WORKERS)']) {
      expect(found).toContainEqual(expect.stringContaining(name));
    }
  });

  it('is reported with all that is wrong in its list', () => {
    const [problem, ...others] = problems(['--queues', 'a:0,../b,c,c']);
    expect(others).toEqual([]);
    for (const reason of ['a whole number 1..', 'with names of letters', 'names the queue c twice']) expect(problem).toContain(reason);
  });

  it('may be a flag without its value', () => {
    expect(problems(['--port'])).toEqual(['--port (ORCHD_PORT): needs a value']);
    expect(problems(['--port', '--host', '::1'])).toContain('--port (ORCHD_PORT): needs a value');
  });

  it('is an unknown flag even when its name is one of every object', () => {
    expect(problems(['--constructor=1', '--toString', '--__proto__=1'])).toHaveLength(3);
  });

  it('is never repeated when it may hold a password', () => {
    expect(problems(['--redis-url', 'http://:s3cret@host']).join()).not.toContain('s3cret');
  });

  it('that Kubernetes made for a Service named orchd is explained', () => {
    expect(problems([], { ORCHD_PORT: 'tcp://10.0.0.1:80' })[0]).toContain('enableServiceLinks');
  });
});

describe('--help and --version', () => {
  it('win over bad settings', () => {
    expect(readSettings(['--port', 'x', '--help'], {})).toEqual({ kind: 'help' });
    expect(readSettings(['-v', '--nope'], {})).toEqual({ kind: 'version' });
  });
});
