import { beforeAll, describe, expect, it } from '@jest/globals';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { JobClient, listAll, ServiceFixture, type ServiceProcess } from './harness/index.js';
import { digests } from './harness/digests.js';
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

/** Exits 65, says where it is and how to go on, and has changed nothing. */
async function expectRefused(what: string, dataDir: string, offset: number): Promise<void> {
  const before = digests(dataDir);
  const service = orchd.launch({ dataDir, flags: API });
  expect({ what, ...(await service.exited) }).toEqual({ what, code: 65, signal: null });
  expect(service.stderr).toMatch(new RegExp(`^orchd: ${SEGMENT}, offset ${offset}: .*orchd wal salvage ${dataDir} .*\n$`));
  expect(digests(dataDir)).toEqual(before);
}

/** Services start slowly: cases that have nothing to do with each other run side by side. */
async function each<T>(cases: readonly T[], check: (one: T) => Promise<void>): Promise<void> {
  await Promise.all(cases.map(check));
}

describe('a log that ends in the middle of a record', () => {
  const last = () => batches[JOBS - 1]!;
  const before = () => batches[JOBS - 2]!;

  it('opens with the records before it, and goes on, wherever in the record it was cut', async () => {
    const cuts = [last().offset + 1, before().offset + 700, last().end - 9];
    await each(cuts, async (cut) => {
      const kept = batches.filter(({ end }) => end <= cut).length;
      await expectTorn(
        damaged(({ bytes }) => bytes.subarray(0, cut)),
        kept,
        batches[kept]!.offset,
      );
    });
  });

  it('opens without a word when it was cut between two records, and so does the next start', async () => {
    const dataDir = damaged(({ bytes }) => bytes.subarray(0, last().offset));
    await expectTorn(dataDir, JOBS - 1, null);
    await expectSound(dataDir, JOBS - 1);
  });

  it('opens with everything and without a word when there are more zeroes at its end than there were', async () => {
    await each([1, 4 * MIB], async (zeroes) => {
      const dataDir = damaged(({ bytes, end }) => Buffer.concat([bytes.subarray(0, end), Buffer.alloc(zeroes)]));
      await expectTorn(dataDir, JOBS, null);
    });
  });

  it('opens without its last record, once and again, when a sector of that is zero', async () => {
    const { offset, end } = last();
    await each([offset, end - 1], async (place) => {
      const sector = Math.floor(place / SECTOR_BYTES) * SECTOR_BYTES;
      const dataDir = damaged(({ bytes }) => void bytes.fill(0, Math.max(offset, sector), Math.min(end, sector + SECTOR_BYTES)));
      await expectTorn(dataDir, JOBS - 1, offset);
      await expectSound(dataDir, JOBS - 1);
    });
  });

  it('opens without its last record when the length of that is hostile', async () => {
    const { offset } = last();
    await expectTorn(
      damaged(({ bytes }) => void bytes.writeUInt32LE(0xffffffff, offset + LENGTH_AT)),
      JOBS - 1,
      offset,
    );
  });
});

describe('a log with damage before records that are whole', () => {
  it('is refused for a flipped bit, wherever it is', async () => {
    const { offset, end } = batches[3]!;
    const places: [string, number, number][] = [
      ['the header', 97, 0],
      ['a frame', offset + 17, offset],
      ['a body', offset + 97, offset],
      ['the end of a body', end - 9, offset],
    ];
    await each(places, async ([what, at, found]) => {
      await expectRefused(
        what,
        damaged(({ bytes }) => void (bytes[at]! ^= 0x10)),
        found,
      );
    });
  });

  it('is refused for a length that is not true', async () => {
    const { offset } = batches[3]!;
    await each([0, 0x7fffffff, 0xffffffff, batches[5]!.offset + 64 - offset], async (length) => {
      const dataDir = damaged(({ bytes }) => void bytes.writeUInt32LE(length, offset + LENGTH_AT));
      await expectRefused(`a length of ${length}`, dataDir, offset);
    });
  });
});

describe('a log that a newer orchd has written to', () => {
  it('is refused, although all checksums are right', async () => {
    const end = batches[JOBS - 1]!.end;
    const signs: [string, number, (segment: SegmentFile) => void][] = [
      ['a record of an unknown type', end, (segment) => segment.append(1, '["zz","job-0"]\n')],
      ['a batch of an unknown kind', end, (segment) => segment.append(9, 'anything')],
      ['a segment of an unknown version', 0, (segment) => segment.setVersion(2)],
    ];
    await each(signs, ([what, found, write]) => expectRefused(what, damaged(write), found));
  });
});
