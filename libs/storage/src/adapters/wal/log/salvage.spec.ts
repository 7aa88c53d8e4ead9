import { acknowledgedBytes, batchOffsets, endOfBatches, withFlippedBit } from './damage.fixture.js';
import { segmentName } from './file-names.js';
import { findingsOf, verifyLog, type Finding } from './inspection.js';
import { codeOf, DIR, LogMachine, numbered } from './log.fixture.js';
import { MemoryFileSystem } from './memory-file-system.fixture.js';
import { ManualClock } from '../../../testing/manual-clock.js';
import { salvageLog, type SalvageReport } from './salvage.js';
import { HEADER_BYTES } from './segment-header.js';
import { WriteAheadLog } from './write-ahead-log.js';

const RECORDS = numbered(60, 150);
const TO = '/salvaged';

/** Three segments, all acknowledged, ended by a clean close. */
async function closedLog(): Promise<LogMachine> {
  const machine = new LogMachine();
  const { log } = await machine.open();
  for (const record of RECORDS) await log.append(`${record}\n`).durable();
  await log.close();
  return machine;
}

async function salvage(machine: LogMachine): Promise<SalvageReport & { kept: string[]; log: WriteAheadLog }> {
  const fs = new MemoryFileSystem(machine.disk);
  const clock = new ManualClock();
  const before = machine.segments.map((name) => machine.bytesOf(name));
  const report = await salvageLog({ fs, clock, from: DIR, to: TO, segmentBytes: 8192 });
  expect(machine.segments.every((name, index) => before[index]?.equals(machine.bytesOf(name)))).toBe(true);
  const kept: string[] = [];
  const quiet = { preamble: () => '', onStateChange: () => undefined, warn: () => undefined };
  const log = await WriteAheadLog.open(
    { dir: TO, fs, clock, fsync: 'always', segmentBytes: 8192, ...quiet },
    { records: (lines) => void kept.push(...lines) },
  );
  await log.close();
  return { ...report, kept, log };
}

function damageRecord(machine: LogMachine, segment: number, index: number): void {
  machine.damage(segment, (bytes) => withFlippedBit(bytes, (batchOffsets(bytes)[index] ?? 0) + 40));
}

describe('salvage', () => {
  it('copies a whole log as it is', async () => {
    const { records, lost, kept } = await salvage(await closedLog());
    expect(kept).toEqual(RECORDS);
    expect({ records, lost }).toEqual({ records: RECORDS.length, lost: [] });
  });

  it('loses only the batch that is damaged, and names its records', async () => {
    const machine = await closedLog();
    const offset = batchOffsets(machine.bytesOfSegment(1))[4];
    damageRecord(machine, 1, 4);
    const { lost, kept } = await salvage(machine);
    expect(kept).toEqual(RECORDS.toSpliced(4, 1));
    expect(lost).toEqual([{ file: segmentName(1), offset, bytes: 184, record: 5, count: 1 }]);
  });

  it('names a missing segment by the numbers of its records', async () => {
    const machine = await closedLog();
    const inFirst = batchOffsets(machine.bytesOfSegment(1)).length;
    const inSecond = batchOffsets(machine.bytesOfSegment(2)).length;
    machine.remove(segmentName(2));
    const { lost, kept } = await salvage(machine);
    expect(kept).toEqual(RECORDS.toSpliced(inFirst, inSecond));
    expect(lost).toEqual([{ file: segmentName(3), offset: HEADER_BYTES, bytes: 0, record: inFirst + 1, count: inSecond }]);
  });

  it('names the records of a missing first segment, and of a first batch that is damaged', async () => {
    const machine = await closedLog();
    const inFirst = batchOffsets(machine.bytesOfSegment(1)).length;
    machine.remove(segmentName(1));
    damageRecord(machine, 2, 0);
    const { lost, kept } = await salvage(machine);
    expect(kept).toEqual(RECORDS.slice(inFirst + 1));
    expect(lost).toEqual([
      { file: segmentName(1), offset: 0, bytes: 0, record: 1, count: inFirst },
      { file: segmentName(2), offset: HEADER_BYTES, bytes: 184, record: inFirst + 1, count: 1 },
    ]);
  });

  it('claims to know no number where the header that would tell is damaged as well', async () => {
    const machine = await closedLog();
    machine.remove(segmentName(1));
    machine.damage(2, (bytes) => withFlippedBit(bytes, 20));
    expect((await salvage(machine)).lost).toEqual([
      { file: segmentName(1), offset: 0, bytes: 0 },
      { file: segmentName(2), offset: 0, bytes: HEADER_BYTES },
    ]);
  });

  it('misses no segment that the cleaner has deleted', async () => {
    const machine = await closedLog();
    const { log } = await machine.open();
    await log.removeOldest(1);
    await log.close();
    const { lost } = await salvage(machine);
    expect(lost).toEqual([]);
  });

  it('reads on behind a damaged header', async () => {
    const machine = await closedLog();
    machine.damage(2, (bytes) => withFlippedBit(bytes, 20));
    const { lost, kept } = await salvage(machine);
    expect(kept).toEqual(RECORDS);
    expect(lost).toMatchObject([{ file: segmentName(2), offset: 0, bytes: HEADER_BYTES, count: 0 }]);
  });

  it('does not guess how many records a torn end held', async () => {
    const machine = await closedLog();
    machine.damage(3, (bytes) => bytes.subarray(0, acknowledgedBytes(bytes) - 20));
    const { lost, kept } = await salvage(machine);
    expect(kept).toEqual(RECORDS.slice(0, -1));
    expect(lost).toHaveLength(1);
    expect(lost[0]?.count).toBeUndefined();
  });

  it('goes on with epochs above those of the old log, whatever the clock says', async () => {
    const machine = await closedLog();
    const { clock, log: old } = await machine.open({ lastEpochFloor: 2 ** 50 });
    expect(old.epochFloor).toBeGreaterThan(2 ** 50);
    expect(clock.wallMs() * 1024).toBeLessThan(2 ** 51);
    await old.close();
    expect((await salvage(machine)).log.epochFloor).toBeGreaterThan(old.epochFloor);
  });

  it('does not write into a folder that holds a log', async () => {
    const machine = await closedLog();
    await salvage(machine);
    const again = salvageLog({ fs: new MemoryFileSystem(machine.disk), clock: new ManualClock(), from: DIR, to: TO, segmentBytes: 8192 });
    expect(await codeOf(again)).toBe('invalid_argument');
  });

  it('says so when the disk is full', async () => {
    const machine = await closedLog();
    machine.disk.capacityBytes = machine.disk.usedBytes + 30_000;
    expect(await codeOf(salvage(machine))).toBe('storage_full');
  });
});

describe('verify', () => {
  const verify = (machine: LogMachine) => verifyLog(new MemoryFileSystem(machine.disk), DIR);

  it('counts what a whole log holds', async () => {
    const machine = await closedLog();
    expect(await verify(machine)).toMatchObject({ verdict: 'whole', records: RECORDS.length, batches: RECORDS.length, boot: 1 });
  });

  it('tells a torn log from a damaged one, and changes neither', async () => {
    const torn = await closedLog();
    torn.damage(3, (bytes) => bytes.subarray(0, acknowledgedBytes(bytes) - 20));
    const damaged = await closedLog();
    damageRecord(damaged, 1, 4);
    for (const machine of [torn, damaged]) {
      const before = machine.files.map((name) => machine.bytesOf(name));
      const report = await verify(machine);
      expect(report.verdict).toBe(machine === torn ? 'torn' : 'damaged');
      expect(machine.files.map((name) => machine.bytesOf(name))).toEqual(before);
    }
    expect((await verify(damaged)).damage).toMatchObject({ file: segmentName(1), code: 'storage_damaged' });
    expect((await verify(torn)).torn).toMatchObject({ segment: 3 });
  });

  it('misses the newest segments', async () => {
    const machine = await closedLog();
    await machine.reopen();
    machine.remove(machine.segments.at(-1) ?? '');
    expect(await verify(machine)).toMatchObject({ verdict: 'damaged', damage: { file: 'LOCK' } });
  });

  it('takes an unreadable folder for what it is', async () => {
    const fs = new MemoryFileSystem(new LogMachine().disk);
    fs.fault = () => 'EACCES';
    expect(await codeOf(verifyLog(fs, DIR))).toBe('storage_unavailable');
  });
});

describe('findings', () => {
  it('are all batches and all bad places, in order', async () => {
    const machine = await closedLog();
    damageRecord(machine, 1, 4);
    const findings: Finding[] = [];
    for await (const finding of findingsOf(new MemoryFileSystem(machine.disk), DIR)) findings.push(finding);
    const bad = findings.findIndex(({ kind }) => kind === 'bad');
    expect(findings.slice(bad - 1, bad + 2)).toMatchObject([
      { kind: 'batch', lines: [RECORDS[3]] },
      { kind: 'bad', segment: 1, nextRecord: 6 },
      { kind: 'batch', lines: [RECORDS[5]] },
    ]);
    const last = findings.at(-1);
    expect(last).toMatchObject({ kind: 'batch', segment: 3, lines: [], offset: endOfBatches(machine.bytesOfSegment(3)) - 32 });
  });
});
