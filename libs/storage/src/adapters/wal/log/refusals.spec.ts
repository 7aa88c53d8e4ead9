import { BatchKind } from './batch-codec.js';
import { addBatch, batchOffsets, changeHeader, endOfBatches, expectRefusal } from './damage.fixture.js';
import { LogDamagedError } from './damage.js';
import { segmentName } from './file-names.js';
import { codeOf, LogMachine, numbered } from './log.fixture.js';
import { HEADER_BYTES } from './segment-header.js';

describe('refusals', () => {
  async function threeBoots(): Promise<LogMachine> {
    const machine = new LogMachine();
    for (const boot of [1, 2, 3]) await machine.writeAndKill(numbered(3, 50, `boot ${boot}`));
    return machine;
  }

  it('a missing segment', async () => {
    const machine = await threeBoots();
    machine.remove(segmentName(2));
    await expectRefusal(machine, 3, `${segmentName(2)}, is missing`);
  });

  it('missing first segments', async () => {
    const machine = await threeBoots();
    machine.remove(segmentName(1));
    await expectRefusal(machine, 2, 'older segments are missing');
  });

  it('missing first segments although others were removed by the cleaner', async () => {
    const machine = await threeBoots();
    const { log } = await machine.open();
    await log.removeOldest(1);
    await log.close();
    expect((await machine.copy().reopen()).records).toHaveLength(6);
    machine.remove(segmentName(2));
    await expectRefusal(machine, 3, 'the log must begin with segment 2');
  });

  it('missing last segments', async () => {
    const machine = await threeBoots();
    machine.remove(segmentName(3));
    const error = await machine.reopen().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'storage_damaged', file: 'LOCK', reason: expect.stringContaining('newest segments are missing') });
    machine.remove('LOCK');
    expect((await machine.reopen()).records).toHaveLength(6);
  });

  it('no segments at all where there were some', async () => {
    const machine = await threeBoots();
    for (const name of machine.segments) machine.remove(name);
    expect(await codeOf(machine.reopen())).toBe('storage_damaged');
  });

  it('a segment with the name of another', async () => {
    const machine = await threeBoots();
    machine.renameFile(segmentName(3), segmentName(4));
    machine.renameFile(segmentName(2), segmentName(3));
    machine.renameFile(segmentName(4), segmentName(2));
    await expectRefusal(machine, 2, 'the header is that of segment 3');
  });

  it('a segment of another log', async () => {
    const machine = await threeBoots();
    const other = new LogMachine();
    for (const boot of [1, 2, 3]) await other.writeAndKill(numbered(boot));
    machine.replace(segmentName(2), other.bytesOfSegment(2));
    await expectRefusal(machine, 2, 'must come next');
  });

  it('a segment that was put back to an older state', async () => {
    const machine = new LogMachine();
    await machine.writeAndKill(numbered(2));
    const older = machine.bytesOfSegment(1).subarray(0, endOfBatches(machine.bytesOfSegment(1)));
    addBatch(machine, 1, BatchKind.records, 3, 'three\n');
    await machine.writeAndKill(['four']);
    machine.replace(segmentName(1), older);
    await expectRefusal(machine, 2, 'record 3 must come next, but the segment begins with 4');
  });

  it('a boot that falls', async () => {
    const machine = await threeBoots();
    changeHeader(machine, 3, { boot: 1 });
    await expectRefusal(machine, 3, 'two logs are mixed up');
  });

  it('an epoch floor that falls', async () => {
    const machine = await threeBoots();
    changeHeader(machine, 3, { epochFloor: 1 });
    await expectRefusal(machine, 3, 'two logs are mixed up');
  });

  it('a gap between batches', async () => {
    const machine = await threeBoots();
    addBatch(machine, 3, BatchKind.records, 12, 'later\n');
    await expectRefusal(machine, 3, 'record 10 must come next, but the batch begins with 12');
  });

  it('a kind of batch that only a newer orchd knows', async () => {
    const machine = await threeBoots();
    addBatch(machine, 3, 4, 10);
    await expectRefusal(machine, 3, 'newer orchd');
  });

  it('a version that only a newer orchd knows', async () => {
    const machine = await threeBoots();
    changeHeader(machine, 3, {}, 2);
    await expectRefusal(machine, 3, 'newer orchd');
  });

  it('what the replay refuses', async () => {
    const machine = await threeBoots();
    const opening = machine.open(
      {},
      {
        replay: {
          records: () => {
            throw new LogDamagedError('/log', 'x', 0, 'unknown record');
          },
        },
      },
    );
    expect(await codeOf(opening)).toBe('storage_damaged');
    expect((await machine.reopen()).records).toHaveLength(9);
  });

  it('a header that is gone while batches follow', async () => {
    const machine = await threeBoots();
    machine.damage(3, (bytes) => void bytes.fill(0, 0, HEADER_BYTES));
    await expectRefusal(machine, 3, 'the header is damaged');
  });

  it('a header that is gone in a segment that has a successor', async () => {
    const machine = await threeBoots();
    machine.damage(2, (bytes) => void bytes.fill(0));
    await expectRefusal(machine, 2, 'the header is damaged');
  });

  it('damage in a segment that has a successor, even where no later batch speaks of it', async () => {
    const machine = new LogMachine();
    await machine.writeAndKill(numbered(3));
    await machine.open();
    machine.disk.kill();
    const last = batchOffsets(machine.bytesOfSegment(1)).at(-1) ?? 0;
    machine.damage(1, (bytes) => void (bytes[last + 40] = 0));
    await expectRefusal(machine, 1, `${segmentName(2)} was begun after it was synced`);
  });
});
