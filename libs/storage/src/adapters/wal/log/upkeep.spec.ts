import { BatchKind, FRAME_BYTES } from './batch-codec.js';
import { batchAt, batchOffsets } from './damage.fixture.js';
import { holdSyncs, LogMachine, numbered, SEGMENT_BYTES, settled } from './log.fixture.js';
import { HEADER_BYTES } from './segment-header.js';

describe('fsync modes', () => {
  it.each(['interval', 'never'] as const)('acknowledges the write in %s', async (fsync) => {
    const { log, fs } = await new LogMachine().open({ fsync });
    const before = fs.calls.length;
    await log.append('x\n').durable();
    await settled();
    expect(fs.calls.slice(before).map(({ method }) => method)).toEqual(['write']);
    await log.close();
  });

  it('syncs every 50 ms in interval, as long as there is something to sync', async () => {
    const machine = new LogMachine();
    const { log, fs, clock } = await machine.open({ fsync: 'interval' });
    await log.append('x\n').durable();
    await settled();
    clock.advance(50);
    await settled();
    const before = fs.calls.length;
    clock.advance(49);
    await settled();
    expect(fs.calls.length).toBe(before);
    machine.disk.cutPower();
    expect((await machine.reopen()).records).toEqual(['x']);
  });

  it('does not let writes wait for the sync in interval', async () => {
    const { log, fs, clock } = await new LogMachine().open({ fsync: 'interval' });
    await log.append('x\n').durable();
    await settled();
    const syncs = holdSyncs(fs);
    clock.advance(50);
    await settled();
    expect(syncs.underWay()).toBe(1);
    await log.append('y\n').durable();
    await syncs.end();
    await log.close();
  });

  it.each(['always', 'interval', 'never'] as const)('syncs a segment before the next one is begun in %s', async (fsync) => {
    const machine = new LogMachine();
    const { log } = await machine.open({ fsync });
    const inFirst: string[] = [];
    for (const record of numbered(100)) {
      const batch = log.append(`${record}\n`);
      await batch.written();
      if (batch.segment === 1) inFirst.push(record);
    }
    machine.disk.cutPower();
    expect((await machine.reopen()).records.slice(0, inFirst.length)).toEqual(inFirst);
    expect(inFirst.length).toBeGreaterThan(10);
  });

  it.each(['always', 'interval', 'never'] as const)('loses nothing with a clean close in %s', async (fsync) => {
    const machine = new LogMachine();
    const { log } = await machine.open({ fsync });
    for (const record of numbered(100)) log.append(`${record}\n`);
    await log.close();
    machine.disk.cutPower();
    expect((await machine.reopen()).records).toEqual(numbered(100));
  });
});

describe('marks', () => {
  it('marks the log when it has been idle for 100 ms, once', async () => {
    const { log, clock } = await new LogMachine().open();
    await log.append('x\n').durable();
    await settled();
    const { currentOffset } = log.stats();
    clock.advance(99);
    await settled();
    expect(log.stats().currentOffset).toBe(currentOffset);
    clock.advance(1);
    await settled();
    expect(log.stats().currentOffset).toBe(currentOffset + FRAME_BYTES);
    clock.advance(1000);
    await settled();
    expect(log.stats().currentOffset).toBe(currentOffset + FRAME_BYTES);
    await log.close();
  });

  it('syncs what nobody waited for before it marks', async () => {
    const machine = new LogMachine();
    const { log, clock } = await machine.open();
    await log.append('claim\n').written();
    await settled();
    clock.advance(100);
    await settled();
    machine.disk.cutPower();
    expect((await machine.reopen()).records).toEqual(['claim']);
  });

  it('says in the mark that everything before it is synced', async () => {
    const machine = new LogMachine();
    const { log } = await machine.open();
    await log.append('claim\n').written();
    await log.close();
    const bytes = machine.bytesOfSegment(1);
    const [claim, mark] = batchOffsets(bytes).map((offset) => batchAt(bytes, offset));
    expect(claim).toMatchObject({ first: 1, durable: 0 });
    expect(mark).toMatchObject({ kind: BatchKind.mark, first: 2, durable: 1 });
  });

  it('leaves the mark out where it does not fit, and lets nothing wait for it', async () => {
    const machine = new LogMachine();
    const { log, clock } = await machine.open();
    const room = SEGMENT_BYTES - FRAME_BYTES - 8;
    await log.append(`${'x'.repeat(room)}\n`).durable();
    expect(log.stats().currentOffset).toBeGreaterThan(HEADER_BYTES + SEGMENT_BYTES - FRAME_BYTES);
    await settled();
    clock.advance(200);
    await settled();
    await log.append('next\n').durable();
    await log.close();
    expect((await machine.reopen()).records).toEqual(['x'.repeat(room), 'next']);
  });

  it('counts the 100 ms from the last append', async () => {
    const { log, clock } = await new LogMachine().open();
    for (let n = 0; n < 5; n++) {
      await log.append('x\n').durable();
      await settled();
      clock.advance(60);
      await settled();
    }
    const { currentOffset } = log.stats();
    clock.advance(40);
    await settled();
    expect(log.stats().currentOffset).toBe(currentOffset + FRAME_BYTES);
    await log.close();
  });
});
