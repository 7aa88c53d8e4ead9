import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { JobRecord } from '../../contract/index.js';
import { GoldenMachine, liveGoldenLife, readGolden, writeGolden, type LogFiles } from './golden.fixture.js';
import { batchOffsets, withFlippedBit } from './log/damage.fixture.js';
import { findingsOf } from './log/inspection.js';
import { FRAME_BYTES } from './log/batch-codec.js';

/*
 * Logs of format version 1 as they were committed. Every orchd to come must read them as this one does. The writer may be changed so that it
 * writes other bytes of the same format; only then, and beside the folder that is there, `ORCHD_GOLDEN=write npm run jest -- golden` makes
 * them again.
 */
const WHOLE = 'v1/whole';
const TORN = 'v1/torn';
const CORRUPT = 'v1/corrupt';
const JOBS = path.join(import.meta.dirname, 'golden/v1/jobs.json');
const LAST_SEGMENT = 'wal-0000000010.log';
const CORRUPT_SEGMENT = 'wal-0000000009.log';

async function jobsIn(machine: GoldenMachine): Promise<JobRecord[]> {
  const adapter = await machine.boot();
  const { jobs } = await adapter.list({ limit: 1000 });
  await adapter.close();
  return [...jobs];
}

function changed(files: LogFiles, name: string, change: (bytes: Buffer) => Buffer): LogFiles {
  return new Map(files).set(name, change(files.get(name)!));
}

/** A bit of the last batch, which nothing behind it proves. */
function torn(bytes: Buffer): Buffer {
  return withFlippedBit(bytes, batchOffsets(bytes).at(-1)! + FRAME_BYTES);
}

function corrupt(bytes: Buffer): Buffer {
  return withFlippedBit(bytes, batchOffsets(bytes)[1]! + FRAME_BYTES);
}

function firstDifference(written: LogFiles, golden: LogFiles): string | null {
  const names = [...new Set([...written.keys(), ...golden.keys()])].sort();
  for (const name of names) {
    const [mine, theirs] = [written.get(name), golden.get(name)];
    if (mine === undefined || theirs === undefined) return `${name} is only in one of them`;
    const at = mine.findIndex((byte, i) => byte !== theirs[i]);
    if (at !== -1 || mine.length !== theirs.length) return `${name}, offset ${at === -1 ? mine.length : at}`;
  }
  return null;
}

async function writeAll(): Promise<void> {
  const machine = new GoldenMachine();
  await liveGoldenLife(machine);
  const files = machine.files();
  writeGolden(WHOLE, files);
  writeGolden(TORN, changed(files, LAST_SEGMENT, torn));
  writeGolden(CORRUPT, changed(files, CORRUPT_SEGMENT, corrupt));
  writeFileSync(JOBS, `${JSON.stringify(await jobsIn(new GoldenMachine(files)), null, 2)}\n`);
}

describe('the golden logs of format version 1', () => {
  if (process.env.ORCHD_GOLDEN === 'write') beforeAll(writeAll);
  const goldenJobs = () => JSON.parse(readFileSync(JOBS, 'utf8')) as JobRecord[];

  it('are what this writer writes, byte for byte', async () => {
    const machine = new GoldenMachine();
    await liveGoldenLife(machine);
    expect(firstDifference(machine.files(), readGolden(WHOLE))).toBeNull();
  });

  it('hold every kind of batch and of record, and a whole job in all its lengths', async () => {
    const machine = new GoldenMachine(readGolden(WHOLE));
    const batches = new Set<number>();
    const records = new Set<string>();
    for await (const finding of findingsOf(machine.fs, '/data')) {
      if (finding.kind === 'bad') throw new Error(`${finding.file}, offset ${finding.offset}: bad bytes`);
      batches.add(finding.batch.kind);
      for (const line of finding.lines) records.add(kindOf(JSON.parse(line) as unknown[]));
    }
    expect([...batches].sort()).toEqual([1, 2, 3]);
    const jobs = ['j', 'j copied while it waits', 'j copied later', 'j with keys', 'j with keys copied while it waits'];
    expect([...records].sort()).toEqual(['a', 'a with result', 'c', 'd', ...jobs, 'n', 'p', 'r', 's', 't', 'x'].sort());
  });

  it('hold these jobs', async () => {
    const machine = new GoldenMachine(readGolden(WHOLE));
    expect(await jobsIn(machine)).toEqual(goldenJobs());
    expect(machine.warnings).toEqual([]);
  });

  it('may end in a torn batch: it is put aside, and all before it is there', async () => {
    const machine = new GoldenMachine(readGolden(TORN));
    expect(await jobsIn(machine)).toEqual(goldenJobs().filter(({ id }) => id !== 'last'));
    expect(machine.warnings).toHaveLength(1);
    const { length } = [...machine.files().keys()].filter((name) => name.endsWith('.broken'));
    expect(length).toBe(1);
  });

  it('are refused, and not touched, when a bit of acknowledged data has flipped', async () => {
    const files = readGolden(CORRUPT);
    const machine = new GoldenMachine(files);
    const place = { file: CORRUPT_SEGMENT, offset: batchOffsets(readGolden(WHOLE).get(CORRUPT_SEGMENT)!)[1] };
    await expect(machine.boot()).rejects.toMatchObject({ code: 'storage_damaged', ...place });
    expect(firstDifference(machine.files(), files)).toBeNull();
  });
});

/** A kind letter and what stands behind it only sometimes. */
function kindOf(record: unknown[]): string {
  const [kind] = record as [string];
  if (kind === 'a') return record.length > 6 ? 'a with result' : 'a';
  if (kind !== 'j') return kind;
  const [keys, past] = record.slice(17) as [unknown, unknown[] | undefined];
  const copied = past === undefined ? '' : past.length === 6 ? ' copied while it waits' : ' copied later';
  return `j${keys ? ' with keys' : ''}${copied}`;
}
