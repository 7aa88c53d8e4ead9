import { beforeAll, describe, expect, it } from '@jest/globals';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describeWith, JobClient, listAll, ROOT, ServiceFixture, type ServiceProcess } from './harness/index.js';
import { SegmentFile, type BatchOnDisk } from './harness/segment-file.js';

const NOBODY = 65_534;
const JOBS = 8;
/** The job whose batch is damaged: neither the first nor the last of its segment. */
const HIT = 1;
/** All of them together overfill a pipe, and no segment takes more than a few. */
const PAYLOAD = 'x'.repeat(20_000);
const API = ['--role', 'api', '--wal-segment-bytes', '65536'];
/** An import of the frameworks ends the process. */
const HOOK = `export const resolve = (name, context, next) => {
  if (/^(@nestjs|@fastify|fastify|pino|rxjs)/.test(name)) throw new Error(name + ' was loaded');
  return next(name, context);
};`;
const WITHOUT_FRAMEWORKS = [
  '--import',
  dataUrl(`import { register } from 'node:module'; register(${JSON.stringify(dataUrl(HOOK))});`),
] as const;

const original = new ServiceFixture('file');
const orchd = new ServiceFixture();
let sound: string;
/** Where each job was put. */
let places: readonly (BatchOnDisk & { readonly file: string })[];

beforeAll(async () => {
  sound = original.folder();
  const service = await original.start({ dataDir: sound, flags: API });
  const jobs = new JobClient(service);
  for (let n = 0; n < JOBS; n++) await jobs.accepted({ id: `job-${n}`, type: 't', payload: PAYLOAD });
  await service.kill();
  places = jobBatches(sound);
  expect(places).toHaveLength(JOBS);
  expect(new Set(places.map(({ file }) => file)).size).toBeGreaterThan(1);
});

function dataUrl(script: string): string {
  return `data:text/javascript,${encodeURIComponent(script)}`;
}

function segmentsOf(dir: string): SegmentFile[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith('.log'))
    .sort()
    .map((name) => new SegmentFile(join(dir, name)));
}

function jobBatches(dir: string): (BatchOnDisk & { file: string })[] {
  return segmentsOf(dir).flatMap(({ path, batches }) =>
    batches
      .filter(({ lines }) => lines.some((line) => line.includes('"job-')))
      .map((batch) => ({ ...batch, file: path.slice(dir.length + 1) })),
  );
}

/** A copy of the folder with this done to the segment that holds the job. */
function damaged(job: number, damage: (segment: SegmentFile, place: BatchOnDisk) => Buffer | void, name = 'data'): string {
  const dir = join(orchd.folder(), name);
  cpSync(sound, dir, { recursive: true });
  const place = places[job]!;
  const segment = new SegmentFile(join(dir, place.file));
  segment.save(damage(segment, place) ?? segment.bytes);
  return dir;
}

const whole = () => damaged(0, () => undefined);
const torn = () => damaged(JOBS - 1, ({ bytes }, { offset }) => bytes.subarray(0, offset + 100));
const corrupt = (name?: string) => damaged(HIT, ({ bytes }, { offset }) => void (bytes[offset + 97]! ^= 0x10), name);

function contents(dir: string): Record<string, unknown> {
  return Object.fromEntries(
    readdirSync(dir).map((name) => [name, [readFileSync(join(dir, name), 'latin1'), statSync(join(dir, name)).mtimeMs]]),
  );
}

async function wal(...args: string[]): Promise<ServiceProcess & { code: number | null }> {
  const process = orchd.launchBare({ flags: ['wal', ...args] });
  return Object.assign(process, { code: (await process.exited).code });
}

/** The same, and the folder is as it was, to the byte and the time. */
async function look(command: string, dir: string, ...more: string[]): Promise<ServiceProcess & { code: number | null }> {
  const before = contents(dir);
  const process = await wal(command, dir, ...more);
  expect(contents(dir)).toEqual(before);
  return process;
}

/** What a person gets who copies the command from the message, with a folder of their own for the last word. */
async function runPrinted(text: string, newDir: string): Promise<number | null> {
  const printed = /orchd wal salvage .*$/m.exec(text)![0].replace(/NEW_\w+$/, `'${newDir}'`);
  const shell = `node=$0 main=$1; orchd() { "$node" "$main" "$@"; }; ${printed}`;
  return (await orchd.launchBare({ wrapper: ['sh', '-c', shell], flags: [] }).exited).code;
}

async function idsIn(dataDir: string): Promise<string[]> {
  const service = await orchd.start({ dataDir, flags: API });
  return (await listAll(service)).map(({ id }) => id);
}

const ids = Array.from({ length: JOBS }, (_, n) => `job-${n}`);

describe('orchd wal verify', () => {
  it('takes a log that was killed for whole', async () => {
    const { code, stdout, stderr } = await look('verify', whole());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/: whole\. \d+ records in \d+ batches, \d+ segments\n$/);
  });

  it('names the place of a torn tail, which is no damage', async () => {
    const { code, stdout } = await look('verify', torn());
    expect(code).toBe(0);
    expect(stdout).toContain(`torn tail. ${places[JOBS - 1]!.file}, offset ${places[JOBS - 1]!.offset}: `);
  });

  it('names the place of damage as a start does, and prints a salvage command that a shell can run', async () => {
    const dir = corrupt("it's here");
    const { code, stdout } = await look('verify', dir);
    const place = `${places[HIT]!.file}, offset ${places[HIT]!.offset}: record ${places[HIT]!.first} is damaged`;
    expect(code).toBe(65);
    expect(stdout).toContain(`${dir}: damaged. ${place}`);
    const start = orchd.launch({ dataDir: dir, flags: API });
    await start.exited;
    expect(start.stderr).toContain(place);
    const to = join(orchd.folder(), 'saved');
    expect(await runPrinted(stdout, to)).toBe(0);
    expect(await idsIn(to)).toEqual(ids.toSpliced(HIT, 1));
  });

  it('refuses a record that only a newer orchd can read, as a start does', async () => {
    let end = 0;
    const dir = damaged(JOBS - 1, (segment) => {
      end = segment.end;
      segment.append(1, '["zz","job-0"]\n');
    });
    const { code, stdout } = await look('verify', dir);
    expect(code).toBe(65);
    expect(stdout).toContain(`${places[JOBS - 1]!.file}, offset ${end}: a record cannot be read`);
    const salvaged = await look('salvage', dir, '--to', join(orchd.folder(), 'saved'));
    expect(salvaged.code).toBe(65);
  });
});

describe('orchd wal dump', () => {
  interface Line {
    readonly file: string;
    readonly segment: number;
    readonly offset: number;
    readonly number: number;
    readonly record: readonly unknown[];
  }
  const linesOf = ({ stdout }: ServiceProcess) =>
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);

  it('prints every record with its place', async () => {
    const dump = await look('dump', whole());
    expect({ code: dump.code, stderr: dump.stderr }).toEqual({ code: 0, stderr: '' });
    const expected = segmentsOf(sound).flatMap(({ path, batches }, index) =>
      batches.flatMap(({ kind, offset, first, lines }) =>
        kind !== 1
          ? []
          : lines.map((line, n) => ({
              file: path.slice(sound.length + 1),
              segment: index + 1,
              offset,
              number: first + n,
              record: JSON.parse(line) as unknown,
            })),
      ),
    );
    expect(linesOf(dump)).toEqual(expected);
  });

  it('goes on behind damage, and tells of it on stderr', async () => {
    const dump = await look('dump', corrupt());
    const { file, offset, end } = places[HIT]!;
    expect(dump.code).toBe(0);
    expect(dump.stderr).toBe(`orchd: ${file}, offset ${offset}: ${end - offset} bytes that hold no whole record\n`);
    const jobs = linesOf(dump).filter(({ record }) => record[0] === 'j');
    expect(jobs.map(({ record }) => record[1])).toEqual(ids.toSpliced(HIT, 1));
  });

  it('ends in silence when its reader has seen enough', async () => {
    const shell = '{ "$0" "$@"; echo "exit $?" >&2; } | head -n 1';
    const process = orchd.launchBare({ wrapper: ['sh', '-c', shell], flags: ['wal', 'dump', whole()] });
    await process.exited;
    expect(linesOf(process)).toHaveLength(1);
    expect(process.stderr).toBe('exit 0\n');
  });
});

describe('orchd wal salvage', () => {
  it('as the refused start prints it, copies all but what is damaged', async () => {
    const dir = corrupt();
    const before = contents(dir);
    const start = orchd.launch({ dataDir: dir, flags: API });
    await start.exited;
    const to = join(orchd.folder(), 'saved');
    expect(await runPrinted(start.stderr, to)).toBe(0);
    expect(contents(dir)).toEqual(before);
    expect(statSync(to).mode & 0o777).toBe(0o700);
    expect(await idsIn(to)).toEqual(ids.toSpliced(HIT, 1));
  });

  it('lists what was lost', async () => {
    const to = join(orchd.folder(), 'saved');
    const { code, stdout, stderr } = await look('salvage', corrupt(), '--to', to);
    const { file, offset, end, first } = places[HIT]!;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n').filter((line) => line.startsWith('lost:'))).toEqual([
      `lost: ${file}, offset ${offset}: ${end - offset} bytes, record ${first}`,
    ]);
    expect(stdout).toContain(`${to}: whole. `);
  });

  it('writes neither into a folder that holds a log nor into the one it reads', async () => {
    const dir = corrupt();
    const other = whole();
    const untouched = contents(other);
    for (const to of [other, dir, join(dir, 'saved'), join(dir, '../data/a/b')]) {
      const { code, stderr, stdout } = await look('salvage', dir, '--to', to);
      expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
      expect(stderr).toMatch(/^orchd: to: .*\n$/);
    }
    expect(contents(other)).toEqual(untouched);
  });
});

describe('a folder that orchd wal cannot use', () => {
  const commands = ['verify', 'dump', 'salvage'];
  const target = (command: string) => (command === 'salvage' ? ['--to', join(orchd.folder(), 'saved')] : []);

  it.each(commands)('%s: because an orchd runs on it is exit 75, and that one goes on', async (command) => {
    const dataDir = whole();
    const service = await orchd.start({ dataDir, flags: API });
    const { code, stdout, stderr } = await wal(command, dataDir, ...target(command));
    expect({ code, stdout }).toEqual({ code: 75, stdout: '' });
    expect(stderr).toBe(`orchd: ${dataDir} is in use by an orchd (pid ${service.pid})\n`);
    await new JobClient(service).accepted({ id: 'later', type: 't' });
  });

  it.each(commands)('%s: because it is not there, holds no log or is a file is exit 78, and nothing is made', async (command) => {
    const empty = orchd.folder();
    const file = join(whole(), places[0]!.file);
    for (const dir of [join(empty, 'none'), empty, file]) {
      const { code, stdout, stderr } = await wal(command, dir, ...target(command));
      expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
      expect(stderr).toMatch(new RegExp(`^orchd: dir: ${dir} (is|holds) .*\n$`));
    }
    expect(readdirSync(empty)).toEqual([]);
  });
});

describeWith([ROOT], 'orchd wal as another user', () => {
  it('who may not read the folder is exit 74', async () => {
    const process = orchd.launchBare({ flags: ['wal', 'verify', whole()], uid: NOBODY });
    expect(await process.exited).toEqual({ code: 74, signal: null });
    expect(process.stderr).toMatch(/^orchd: Cannot read .*\n$/);
  });

  it('needs no right to write', async () => {
    const dir = whole();
    for (const name of readdirSync(dir)) chmodSync(join(dir, name), 0o444);
    for (const folder of [dir, join(dir, '..')]) chmodSync(folder, 0o555);
    const process = orchd.launchBare({ flags: ['wal', 'verify', dir], uid: NOBODY });
    expect(await process.exited).toEqual({ code: 0, signal: null });
    expect(process.stdout).toContain(': whole.');
  });
});

describe('the words of orchd wal', () => {
  it.each([[[]], [['fix', 'data']], [['verify']], [['salvage', 'data']], [['dump', 'data', '--to', 'x']]])(
    '%j are refused: exit 78',
    async (args) => {
      const { code, stdout, stderr } = await wal(...args);
      expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
      expect(stderr).toMatch(/^orchd: wal: [^\n]*see orchd wal --help\)\n$/);
    },
  );

  it('--help is printed to stdout: exit 0', async () => {
    const { code, stdout } = await wal('--help');
    expect(code).toBe(0);
    expect(stdout).toContain('orchd wal salvage DIR --to NEW_DIR');
  });
});

it('orchd wal loads none of the frameworks of the service', async () => {
  const dir = whole();
  const to = join(orchd.folder(), 'saved');
  for (const args of [['--help'], ['verify', dir], ['dump', dir], ['salvage', dir, '--to', to]]) {
    const process = orchd.launchBare({ nodeFlags: WITHOUT_FRAMEWORKS, flags: ['wal', ...args] });
    expect({ exit: await process.exited, stderr: process.stderr }).toEqual({ exit: { code: 0, signal: null }, stderr: '' });
  }
  expect(existsSync(to)).toBe(true);
  const service = orchd.launchBare({ nodeFlags: WITHOUT_FRAMEWORKS, flags: ['--help'] });
  expect((await service.exited).code).toBe(1);
});
