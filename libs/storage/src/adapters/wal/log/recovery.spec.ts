import { jest } from '@jest/globals';
import { segmentName } from './file-names.js';
import { acknowledgedBytes, batchOffsets, endOfBatches, endOfText, expectRefusal, withFlippedBit } from './damage.fixture.js';
import type { LogDamagedError } from './damage.js';
import { LogMachine, numbered } from './log.fixture.js';
import { HEADER_BYTES } from './segment-header.js';

/** Many hundred openings in one test, on a machine that may be busy. */
jest.setTimeout(60_000);

describe('a torn tail', () => {
  it('is cut, saved and warned about once; the log goes on and the next opening is silent', async () => {
    const machine = new LogMachine();
    const records = numbered(5);
    await machine.writeAndKill(records);
    const last = batchOffsets(machine.bytesOfSegment(1)).at(-1) ?? 0;
    machine.damage(1, (bytes) => void bytes.fill(0, last + 50));
    const { log, records: kept, warnings } = await machine.open();
    expect(kept).toEqual(records.slice(0, 4));
    const saved = `wal-0000000001-${String(last).padStart(10, '0')}.broken`;
    expect(warnings).toEqual([
      { message: expect.any(String), details: { file: segmentName(1), offset: last, bytes: 50, validBatchesDropped: 0, saved } },
    ]);
    expect(machine.bytesOf(saved).length).toBe(50);
    await log.append('next\n').durable();
    await log.close();
    const again = await machine.reopen();
    expect(again.records).toEqual([...records.slice(0, 4), 'next']);
    expect(again.warnings).toEqual([]);
  });

  it('costs only the batches that it reaches into, wherever the file ends', async () => {
    const machine = new LogMachine();
    const records = ['first', ...numbered(3, 20), 'Zürich'];
    await machine.writeAndKill(records);
    const bytes = machine.bytesOfSegment(1);
    const offsets = batchOffsets(bytes);
    for (let length = offsets[1] ?? 0; length <= endOfBatches(bytes); length++) {
      const cut = machine.copy();
      cut.damage(1, (whole) => whole.subarray(0, length));
      const { records: kept } = await cut.reopen();
      const whole = offsets.filter((_, index) => endOfText(bytes, offsets, index) <= length).length;
      expect(kept).toEqual(records.slice(0, whole));
      expect((await cut.reopen()).warnings).toEqual([]);
    }
  });

  it('costs only the batches that it reaches into, wherever zeroes begin', async () => {
    const machine = new LogMachine();
    const records = numbered(4, 30);
    await machine.writeAndKill(records);
    const bytes = machine.bytesOfSegment(1);
    const offsets = batchOffsets(bytes);
    for (let length = offsets[1] ?? 0; length <= endOfBatches(bytes); length++) {
      const cut = machine.copy();
      cut.damage(1, (whole) => void whole.fill(0, length));
      const whole = offsets.filter((_, index) => endOfText(bytes, offsets, index) <= length).length;
      expect((await cut.reopen()).records).toEqual(records.slice(0, whole));
    }
  });

  it('may lack any sector', async () => {
    const machine = new LogMachine();
    const records = [...numbered(3, 30), 'x'.repeat(2500)];
    await machine.writeAndKill(records, { segmentBytes: 16384 });
    const bytes = machine.bytesOfSegment(1);
    const last = batchOffsets(bytes).at(-1) ?? 0;
    const end = endOfBatches(bytes);
    for (let sector = last - (last % 512) + 512; sector < end; sector += 512) {
      const torn = machine.copy();
      torn.damage(1, (whole) => void whole.fill(0, sector, sector + 512));
      expect((await torn.reopen()).records).toEqual(records.slice(0, 3));
    }
  });

  it('is told from what the log has not used yet, however long that is', async () => {
    for (const zeroes of [1, 7, 8, 511, 4096, 4 * 2 ** 20]) {
      const machine = new LogMachine();
      await machine.writeAndKill(numbered(3));
      machine.damage(1, (bytes) => Buffer.concat([bytes, Buffer.alloc(zeroes)]));
      const { records, warnings } = await machine.reopen();
      expect(records).toEqual(numbered(3));
      expect(warnings).toEqual([]);
    }
  });

  it('takes whole batches behind it along when none shows that it was promised', async () => {
    const machine = new LogMachine();
    await machine.writeAndKill(numbered(4), { fsync: 'never' });
    const [, second = 0] = batchOffsets(machine.bytesOfSegment(1));
    machine.damage(1, (bytes) => void bytes.fill(0, second, second + 10));
    const { records, warnings } = await machine.reopen();
    expect(records).toEqual(numbered(1));
    expect(warnings).toMatchObject([{ details: { validBatchesDropped: 2 } }]);
  });

  it('is saved three times, the newest', async () => {
    const machine = new LogMachine();
    for (let round = 1; round <= 5; round++) {
      await machine.writeAndKill([`round ${round}`]);
      machine.damage(round, (bytes) => void bytes.fill(0x55, endOfBatches(bytes), endOfBatches(bytes) + 10));
    }
    await machine.reopen();
    const saved = machine.files.filter((name) => name.endsWith('.broken'));
    expect(saved.map((name) => name.slice(0, 14))).toEqual(['wal-0000000003', 'wal-0000000004', 'wal-0000000005']);
  });

  it('does not keep a full disk from opening', async () => {
    const machine = new LogMachine();
    await machine.writeAndKill(numbered(3));
    machine.damage(1, (bytes) => void bytes.fill(0x55, endOfBatches(bytes), endOfBatches(bytes) + 10));
    machine.disk.capacityBytes = machine.disk.usedBytes;
    const { records, warnings, states } = await machine.reopen();
    expect(records).toEqual(numbered(3));
    expect(warnings).toMatchObject([{ message: expect.stringContaining('could not be saved') }]);
    expect(states).toMatchObject([{ state: 'full' }]);
  });
});

describe('hostile bytes', () => {
  it.each([0, 1, 0x7fffffff, 0xffffffff, 200])('a length of %i is a torn tail at the end and corruption before it', async (length) => {
    const machine = new LogMachine();
    await machine.writeAndKill(numbered(4));
    const offsets = batchOffsets(machine.bytesOfSegment(1));
    const atEnd = machine.copy();
    atEnd.damage(1, (bytes) => void bytes.writeUInt32LE(length, (offsets[3] ?? 0) + 8));
    expect((await atEnd.reopen()).records).toEqual(numbered(3));
    machine.damage(1, (bytes) => void bytes.writeUInt32LE(length, (offsets[1] ?? 0) + 8));
    await expectRefusal(machine, 1, 'record 2 is damaged');
  });

  it('payloads that look like batches are text', async () => {
    const machine = new LogMachine();
    await machine.writeAndKill(['one']);
    const image = machine
      .bytesOfSegment(1)
      .subarray(HEADER_BYTES, HEADER_BYTES + 40)
      .toString('latin1');
    await machine.writeAndKill([image.replaceAll('\n', ' ')]);
    expect((await machine.reopen()).records).toHaveLength(2);
  });
});

describe('a flipped bit', () => {
  /** Three segments of two boots, all acknowledged, ended by a mark. */
  async function closedLog(): Promise<LogMachine> {
    const machine = new LogMachine();
    const { log } = await machine.open();
    for (const record of numbered(60, 90)) await log.append(`${record}\n`).durable();
    await log.close();
    return machine;
  }

  it('in what was acknowledged is never passed over: at every 13th byte of every segment', async () => {
    const machine = await closedLog();
    for (const name of machine.segments) {
      const bytes = machine.bytesOf(name);
      for (let at = 0; at < acknowledgedBytes(bytes); at += 13) {
        const flipped = machine.copy();
        flipped.replace(name, withFlippedBit(bytes, at));
        const error = await flipped.reopen().catch((thrown: unknown) => thrown);
        expect({ name, at, code: (error as LogDamagedError).code }).toEqual({ name, at, code: 'storage_damaged' });
      }
    }
  });

  it('in the mark at the end costs nothing that was acknowledged', async () => {
    const machine = await closedLog();
    const name = machine.segments.at(-1) ?? '';
    const bytes = machine.bytesOf(name);
    for (let at = acknowledgedBytes(bytes); at < endOfBatches(bytes); at++) {
      const flipped = machine.copy();
      flipped.replace(name, withFlippedBit(bytes, at));
      expect((await flipped.reopen()).records).toEqual(numbered(60, 90));
    }
  });

  it('behind the end is junk, not a reason to refuse', async () => {
    const machine = new LogMachine();
    await machine.writeAndKill(numbered(3));
    machine.damage(1, (bytes) => void (bytes[bytes.length - 100] = 1));
    const { records, warnings } = await machine.reopen();
    expect(records).toEqual(numbered(3));
    expect(warnings).toHaveLength(1);
  });
});
