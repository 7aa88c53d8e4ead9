import { beforeAll, describe, expect, it } from '@jest/globals';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { JobClient, listAll, ServiceFixture, type ServiceProcess } from './harness/index.js';
import { LENGTH_AT, SegmentFile, type BatchOnDisk } from './harness/segment-file.js';

const SEGMENT = 'wal-0000000001.log';
const JOBS = 8;
const SECTOR_BYTES = 512;
const MIB = 1024 * 1024;
const API = ['--role', 'api', '--wal-segment-bytes', '65536'];

const original = new ServiceFixture('file');
const orchd = new ServiceFixture();
let sound: string;
/** Batches that hold a job each, in order. */
let batches: readonly BatchOnDisk[];

beforeAll(async () => {
  sound = original.folder();
  const service = await original.start({ dataDir: sound, flags: API });
  const jobs = new JobClient(service);
  // The payload of each spans a few sectors.
  for (let n = 0; n < JOBS; n++) await jobs.accepted({ id: `job-${n}`, type: 't', payload: 'x'.repeat(3 * SECTOR_BYTES) });
  await service.kill();
  batches = new SegmentFile(join(sound, SEGMENT)).batches.filter(({ lines }) => lines.some((line) => line.includes('"job-')));
  expect(batches).toHaveLength(JOBS);
});

/** A copy of the folder whose segment went through this. */
function damaged(damage: (segment: SegmentFile) => Buffer | void): string {
  const dataDir = orchd.folder();
  cpSync(sound, dataDir, { recursive: true });
  const segment = new SegmentFile(join(dataDir, SEGMENT));
  segment.save(damage(segment) ?? segment.bytes);
  return dataDir;
}

async function ids(service: ServiceProcess): Promise<string[]> {
  return (await listAll(service)).map(({ id }) => id);
}

function warnings({ log }: ServiceProcess): unknown[] {
  return log.filter(({ level }) => level === 'warn');
}

/** Comes up by itself with the first jobs, has put the tail aside, and goes on appending. */
async function expectTorn(dataDir: string, kept: number, offset: number | null): Promise<void> {
  const first = await orchd.start({ dataDir, flags: API });
  const expected = Array.from({ length: kept }, (_, n) => `job-${n}`);
  expect(await ids(first)).toEqual(expected);
  const broken = readdirSync(dataDir).filter((name) => name.endsWith('.broken'));
  if (offset === null) expect({ broken, warnings: warnings(first) }).toEqual({ broken: [], warnings: [] });
  else {
    expect(broken).toEqual([`wal-0000000001-${String(offset).padStart(10, '0')}.broken`]);
    expect(warnings(first)).toEqual([expect.objectContaining({ file: SEGMENT, offset })]);
  }
  await new JobClient(first).accepted({ id: 'later', type: 't' });
  await first.kill();
}

/** The start after that has everything and nothing to say. */
async function expectSound(dataDir: string, kept: number): Promise<void> {
  const service = await orchd.start({ dataDir, flags: API });
  expect(await ids(service)).toEqual([...Array.from({ length: kept }, (_, n) => `job-${n}`), 'later']);
  expect(warnings(service)).toEqual([]);
}

function contents(dataDir: string): Record<string, string> {
  return Object.fromEntries(readdirSync(dataDir).map((name) => [name, readFileSync(join(dataDir, name), 'latin1')]));
}

/** Exits 65, says where it is and how to go on, and has changed nothing. */
async function expectRefused(dataDir: string, offset: number): Promise<void> {
  const before = contents(dataDir);
  const service = orchd.launch({ dataDir, flags: API });
  expect(await service.exited).toEqual({ code: 65, signal: null });
  expect(service.stderr).toMatch(new RegExp(`^orchd: ${SEGMENT}, offset ${offset}: .*orchd wal salvage ${dataDir} .*\n$`));
  expect(contents(dataDir)).toEqual(before);
}

describe('a log that ends in the middle of a record', () => {
  const last = () => batches[JOBS - 1]!;
  const before = () => batches[JOBS - 2]!;

  it.each([
    ['the first byte of a frame', () => last().offset + 1, JOBS - 1],
    ['a body', () => before().offset + 700, JOBS - 2],
    ['the last byte', () => last().end - 9, JOBS - 1],
  ])('cut in %s: opens with the records before it, and goes on', async (_where, at, kept) => {
    const dataDir = damaged(({ bytes }) => bytes.subarray(0, at()));
    await expectTorn(dataDir, kept, batches[kept]!.offset);
  });

  it('cut between two records: opens without a word, and so does the next start', async () => {
    const dataDir = damaged(({ bytes }) => bytes.subarray(0, last().offset));
    await expectTorn(dataDir, JOBS - 1, null);
    await expectSound(dataDir, JOBS - 1);
  });

  it.each([1, 4 * MIB])('with %d zeroes more than it had: opens with everything and without a word', async (zeroes) => {
    const dataDir = damaged(({ bytes, end }) => Buffer.concat([bytes.subarray(0, end), Buffer.alloc(zeroes)]));
    await expectTorn(dataDir, JOBS, null);
  });

  it.each(['first', 'last'])('with the %s sector of its last record zero: opens without it, once and again', async (which) => {
    const dataDir = damaged(({ bytes }) => {
      const { offset, end } = last();
      const sector = Math.floor((which === 'first' ? offset : end - 1) / SECTOR_BYTES) * SECTOR_BYTES;
      bytes.fill(0, Math.max(offset, sector), Math.min(end, sector + SECTOR_BYTES));
    });
    await expectTorn(dataDir, JOBS - 1, last().offset);
    await expectSound(dataDir, JOBS - 1);
  });
});

describe('a log with damage before records that are whole', () => {
  const middle = () => batches[3]!;

  it.each([
    ['the frame', () => middle().offset + 17],
    ['the body', () => middle().offset + 97],
  ])('a flipped bit in %s is not passed over', async (_where, at) => {
    const dataDir = damaged(({ bytes }) => void (bytes[at()]! ^= 0x10));
    await expectRefused(dataDir, middle().offset);
  });

  it('a flipped bit in the header is not passed over', async () => {
    await expectRefused(
      damaged(({ bytes }) => void (bytes[97]! ^= 0x10)),
      0,
    );
  });

  it.each([
    ['0', () => 0],
    ['4 GiB', () => 0xffffffff],
    ['the way into a later record', () => batches[5]!.offset + 64 - middle().offset],
  ])('a length of %s is not believed', async (_length, length) => {
    const dataDir = damaged(({ bytes }) => void bytes.writeUInt32LE(length(), middle().offset + LENGTH_AT));
    await expectRefused(dataDir, middle().offset);
  });

  it('a length of 4 GiB in the last record is a torn tail', async () => {
    const { offset } = batches[JOBS - 1]!;
    await expectTorn(
      damaged(({ bytes }) => void bytes.writeUInt32LE(0xffffffff, offset + LENGTH_AT)),
      JOBS - 1,
      offset,
    );
  });
});

describe('a log that a newer orchd has written to', () => {
  it.each([
    ['a record of an unknown type', 1, '["zz","job-0"]\n'],
    ['a batch of an unknown kind', 9, 'anything'],
  ])('%s, with all checksums right, is not passed over', async (_what, kind, body) => {
    let end = 0;
    const dataDir = damaged((segment) => {
      end = segment.end;
      segment.append(kind, body);
    });
    await expectRefused(dataDir, end);
  });

  it('a segment of an unknown version is not passed over', async () => {
    await expectRefused(
      damaged((segment) => segment.setVersion(2)),
      0,
    );
  });
});
