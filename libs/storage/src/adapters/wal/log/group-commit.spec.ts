import { HEADER_BYTES } from './segment-header.js';
import { codeOf, holdSyncs, LogMachine, numbered, SEGMENT_BYTES, settled, withSeed, type OpenedLog } from './log.fixture.js';

describe('group commit', () => {
  it('puts what one turn of the event loop appends into one write and one sync', async () => {
    const { log, fs } = await new LogMachine().open();
    const before = fs.calls.length;
    const batches = numbered(20).map((record) => log.append(`${record}\n`));
    await Promise.all(batches.map((batch) => batch.durable()));
    expect(fs.calls.slice(before).map(({ method }) => method)).toEqual(['write', 'sync']);
    expect(new Set(batches).size).toBe(1);
    await log.close();
  });

  it('has one write or sync in flight, and gathers meanwhile', async () => {
    const { log, fs } = await new LogMachine().open();
    const syncs = holdSyncs(fs);
    const first = log.append('first\n').durable();
    await settled();
    const before = fs.calls.length;
    const second = log.append('second\n');
    const third = log.append('third\n');
    await settled();
    expect(fs.calls.length).toBe(before);
    expect(third).toBe(second);
    await syncs.end();
    await Promise.all([first, second.durable()]);
    await log.close();
  });

  it('acknowledges with a sync only what was written before the sync began', async () => {
    const machine = new LogMachine();
    const { log, fs } = await machine.open();
    const acked: string[] = [];
    const append = (record: string) =>
      void log
        .append(`${record}\n`)
        .durable()
        .then(() => acked.push(record));
    const syncs = holdSyncs(fs);
    for (let round = 0; round < 10; round++) {
      append(`${round} before`);
      await settled();
      append(`${round} while the sync is under way`);
      for (const expected of [0, 1, 2]) {
        expect(acked).toHaveLength(2 * round + expected);
        expect((await machine.copyAfterPowerCut().reopen()).records).toEqual(expect.arrayContaining(acked));
        await syncs.release();
      }
    }
    await syncs.end();
    await log.close();
  });

  it('writes a batch that nobody wants durable without a sync, and syncs it with the next', async () => {
    const machine = new LogMachine();
    const { log, fs } = await machine.open();
    const before = fs.calls.length;
    const claim = log.append('claim\n');
    await claim.written();
    await settled();
    expect(fs.calls.slice(before).map(({ method }) => method)).toEqual(['write']);
    expect(log.isDurable).toBe(false);
    await log.append('ack\n').durable();
    expect(fs.calls.slice(before).map(({ method }) => method)).toEqual(['write', 'write', 'sync']);
    await claim.durable();
    expect(fs.calls.length).toBe(before + 3);
    // A write that is synced by itself would vouch for its own bytes alone.
    expect((await machine.copyAfterPowerCut().reopen()).records).toEqual(['claim', 'ack']);
    await log.close();
  });

  it('does not let a batch whose write is wanted wait for the sync under way, and vouches for it with the next', async () => {
    const machine = new LogMachine();
    const { log, fs } = await machine.open();
    const syncs = holdSyncs(fs);
    const first = log.append('ack\n');
    const ack = first.durable();
    await first.written();
    await settled();
    const claim = log.append('claim\n');
    await claim.written();
    const claimDurable = claim.durable();
    await syncs.release();
    await ack;
    expect(log.isDurable).toBe(false);
    expect((await machine.copyAfterPowerCut().reopen()).records).toEqual(['ack']);
    await syncs.release();
    await claimDurable;
    expect((await machine.copyAfterPowerCut().reopen()).records).toEqual(['ack', 'claim']);
    await syncs.end();
    await log.close();
  });

  describe('blocks for a write that is not synced', () => {
    const claim = async ({ log, fs }: OpenedLog) => {
      await log.append('claim\n').written();
      return fs.calls.findLast(({ method }) => method === 'write')?.blocking;
    };

    it('while the disk is quick', async () => {
      const opened = await new LogMachine().open();
      expect(await claim(opened)).toBe(true);
      await opened.log.append('ack\n').durable();
      expect(await claim(opened)).toBe(true);
      await opened.log.close();
    });

    it('not where nothing is synced', async () => {
      const opened = await new LogMachine().open({ fsync: 'never' });
      expect(await claim(opened)).toBe(false);
      await opened.log.close();
    });

    it('not while a sync is late, nor after it, until one was quick again', async () => {
      const opened = await new LogMachine().open();
      const { log, fs, clock } = opened;
      const syncs = holdSyncs(fs);
      expect(await claim(opened)).toBe(true);
      const acked = log.append('ack\n').durable();
      await settled();
      expect(await claim(opened)).toBe(true);
      clock.advance(10);
      expect(await claim(opened)).toBe(false);
      await syncs.end();
      await acked;
      expect(await claim(opened)).toBe(false);
      await log.append('ack\n').durable();
      expect(await claim(opened)).toBe(true);
      await log.close();
    });

    it('not after a write that was slow, until one was quick again', async () => {
      const opened = await new LogMachine().open();
      const { log, fs, clock } = opened;
      fs.fault = ({ method }) => void (method === 'write' && clock.advance(2));
      expect(await claim(opened)).toBe(true);
      expect(await claim(opened)).toBe(false);
      fs.fault = () => undefined;
      expect(await claim(opened)).toBe(false);
      expect(await claim(opened)).toBe(true);
      await log.close();
    });

    it('not for what is large', async () => {
      const opened = await new LogMachine().open({ segmentBytes: 2 ** 20 });
      const { log, fs } = opened;
      await log.append(`${'x'.repeat(65 * 1024)}\n`).written();
      expect(fs.calls.at(-1)).toMatchObject({ method: 'write', blocking: false });
      await log.close();
    });
  });

  it('goes back to a write and a sync apart once a sync was slow, so that a claim waits for one of them at most', async () => {
    const machine = new LogMachine();
    const { log, fs, clock } = await machine.open();
    const syncs = holdSyncs(fs);
    const jobs = log.append('jobs\n').durable();
    await settled();
    const claim = log.append('claim\n').written();
    clock.advance(10);
    await syncs.release();
    await jobs;
    await claim;
    const more = log.append('more jobs\n').durable();
    await settled();
    await log.append('another claim\n').written();
    expect(syncs.underWay()).toBe(1);
    await syncs.end();
    await more;
    await log.close();
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('keeps to one write, one sync and one new segment at a time, however they overlap (seed %i)', (seed) =>
    withSeed(seed, async (random) => {
      const machine = new LogMachine();
      const { log, fs, states } = await machine.open();
      const slow = () => settled(Math.floor(random() * 6));
      fs.gate = slow;
      const records = numbered(300, 150);
      for (const record of records) {
        const batch = log.append(`${record}\n`);
        void (random() < 0.3 ? batch.durable() : batch.written());
        if (random() < 0.4) await slow();
      }
      await log.close();
      expect(states).toEqual([]);
      expect((await machine.reopen()).records).toEqual(records);
    }),
  );

  it('syncs a written batch when somebody asks after all', async () => {
    const machine = new LogMachine();
    const { log } = await machine.open();
    const claim = log.append('claim\n');
    await claim.written();
    await claim.durable();
    machine.disk.cutPower();
    expect((await machine.reopen()).records).toEqual(['claim']);
  });

  it('has nothing outstanding when what was appended last was refused', async () => {
    const machine = new LogMachine();
    const { log } = await machine.open();
    machine.disk.capacityBytes = machine.disk.usedBytes;
    const refused = log.append(`${'x'.repeat(3 * SEGMENT_BYTES)}\n`, 'enqueue');
    await log.barrier();
    expect(await codeOf(refused.durable())).toBe('storage_full');
    expect(log.isDurable).toBe(true);
    await log.barrier();
    await log.close();
  });

  it('makes everything appended durable with a barrier, and costs nothing when all is', async () => {
    const machine = new LogMachine();
    const { log, fs } = await machine.open();
    log.append('one\n');
    log.append('two\n', 'cleaner');
    await log.barrier();
    const before = fs.calls.length;
    expect(log.isDurable).toBe(true);
    await log.barrier();
    expect(fs.calls.length).toBe(before);
    machine.disk.cutPower();
    expect((await machine.reopen()).records).toEqual(['one', 'two']);
  });

  it('never divides the records of a call, and closes a batch when it is large', async () => {
    const { log } = await new LogMachine().open();
    const calls = numbered(50, 200).map((record) => log.append(`${record} a\n${record} b\n`));
    await log.barrier();
    expect(new Set(calls).size).toBeGreaterThan(5);
    await log.close();
  });

  it('gives a call larger than a segment a segment of its own', async () => {
    const machine = new LogMachine();
    const { log } = await machine.open();
    const large = numbered(1, 10 * SEGMENT_BYTES);
    await log.append('before\n').durable();
    const batch = log.append(large.map((record) => `${record}\n`).join(''), 'enqueue');
    await batch.durable();
    await log.append('after\n').durable();
    expect(batch.segment).toBe(2);
    await log.close();
    expect((await machine.reopen()).records).toEqual(['before', ...large, 'after']);
  });

  it('refuses enqueues above the limit of what waits, and takes settles', async () => {
    const { log, fs } = await new LogMachine().open({ maxWaitingBytes: 1000 });
    const syncs = holdSyncs(fs);
    log
      .append('in flight\n', 'enqueue')
      .durable()
      .catch(() => undefined);
    await settled();
    for (const record of numbered(9, 109)) log.append(`${record}\n`, 'enqueue');
    expect(() => log.append(`${'x'.repeat(100)}\n`, 'enqueue')).toThrow(expect.objectContaining({ code: 'storage_busy' }));
    for (const record of numbered(20, 109)) log.append(`${record}\n`, 'settle');
    expect(log.takes('enqueue')).toBe(false);
    await syncs.end();
    await log.barrier();
    expect(log.takes('enqueue')).toBe(true);
    expect(log.stats().waitingBytes).toBe(0);
    await log.close();
  });

  it('takes a call above the limit when nothing else waits', async () => {
    const { log } = await new LogMachine().open({ maxWaitingBytes: 10 });
    await log.append(`${'x'.repeat(100)}\n`, 'enqueue').durable();
    await log.close();
  });

  it('opens every segment with the preamble of its moment', async () => {
    const machine = new LogMachine();
    let count = 0;
    const { log } = await machine.open({ preamble: () => `state ${++count}\n` });
    for (const record of numbered(100)) await log.append(`${record}\n`).durable();
    const { segments } = log.stats();
    await log.close();
    const states = (await machine.reopen()).records.filter((record) => record.startsWith('state'));
    expect(states).toEqual(Array.from({ length: segments }, (_, index) => `state ${index + 1}`));
  });

  it('writes only into space that was written before, however a batch grows while its segment is begun', async () => {
    const machine = new LogMachine();
    const { log, fs } = await machine.open({ preamble: () => `${'p'.repeat(SEGMENT_BYTES / 2 + 100)}\n` });
    await log.append(`${'first'.padEnd(SEGMENT_BYTES / 4)}\n`).durable();
    const syncs = holdSyncs(fs);
    const batch = log.append(`${'x'.repeat(SEGMENT_BYTES / 4)}\n`);
    await settled();
    expect(log.append(`${'grows'.padEnd(SEGMENT_BYTES / 4 - 50)}\n`)).toBe(batch);
    await syncs.end();
    await batch.durable();
    await settled();
    const { bytes, diskBytes } = log.stats();
    const spareBytes = 2 * (HEADER_BYTES + SEGMENT_BYTES);
    expect(diskBytes - bytes - spareBytes).toBeGreaterThanOrEqual(0);
    await log.close();
    expect((await machine.reopen()).records.filter((record) => !record.startsWith('p'))).toHaveLength(3);
  });

  it('tells in which segment a batch came to lie', async () => {
    const machine = new LogMachine();
    const { log } = await machine.open();
    const batch = log.append('x\n');
    expect(batch.segment).toBe(-1);
    await batch.written();
    expect(batch.segment).toBe(log.stats().currentSegment);
    await log.close();
  });
});
