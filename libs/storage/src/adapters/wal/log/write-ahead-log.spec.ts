import { codeOf, holdSyncs, LogMachine, numbered, SEGMENT_BYTES, settled } from './log.fixture.js';
import { FRAME_BYTES } from './batch-codec.js';

describe('WriteAheadLog', () => {
  it('gives back after a clean close what was appended, in order', async () => {
    const machine = new LogMachine();
    const { log } = await machine.open();
    const records = numbered(200);
    for (const record of records) log.append(`${record}\n`);
    await log.close();
    expect((await machine.reopen()).records).toEqual(records);
  });

  it('keeps text of every kind', async () => {
    const machine = new LogMachine();
    const records = ['', ' ', 'Zürich 日本 \u{1f600}', '{"a":"\\n"}', '\u0000\u001f\u007f\u0080\u2028', 'x'.repeat(3000)];
    await machine.writeAndKill(records);
    expect((await machine.reopen()).records).toEqual(records);
  });

  it('keeps all that was durable over a power cut', async () => {
    const machine = new LogMachine();
    const records = numbered(150);
    await machine.writeAndKill(records);
    machine.disk.cutPower();
    expect((await machine.reopen()).records).toEqual(records);
  });

  it('numbers boots and raises the epoch floor with each, whatever the clock does', async () => {
    const machine = new LogMachine();
    const first = await machine.reopen();
    expect(first.log.epochFloor).toBe(first.clock.wallMs() * 1024);
    const second = await machine.reopen();
    expect(second.log.boot).toBe(first.log.boot + 1);
    expect(second.log.epochFloor).toBe(first.log.epochFloor + 2 ** 24);
  });

  it('has the epoch floor on disk before it opens', async () => {
    const machine = new LogMachine();
    const { log } = await machine.open();
    machine.disk.cutPower();
    expect((await machine.reopen()).log.epochFloor).toBe(log.epochFloor + 2 ** 24);
  });

  it.each(['', 'no line feed', 'one\ntwo'])('refuses %j, which is not whole lines', async (text) => {
    const { log } = await new LogMachine().open();
    expect(() => log.append(text)).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
    await log.close();
  });

  it('takes nothing after close, and closes twice', async () => {
    const { log } = await new LogMachine().open();
    await Promise.all([log.close(), log.close()]);
    expect(() => log.append('x\n')).toThrow(expect.objectContaining({ code: 'not_open' }));
    expect(log.takes('settle')).toBe(false);
  });

  it('leaves no timer behind', async () => {
    const { log, clock } = await new LogMachine().open({ fsync: 'interval' });
    await log.append('x\n').durable();
    await log.close();
    expect(clock.pendingTimers).toBe(0);
  });
});

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
    const { log, fs } = await new LogMachine().open();
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
    await log.close();
  });

  it('does not let a batch whose write is wanted wait for the sync under way, and vouches for it with the next', async () => {
    const machine = new LogMachine();
    const { log, fs } = await machine.open();
    const syncs = holdSyncs(fs);
    const ack = log.append('ack\n').durable();
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

  it('begins a segment only when no sync is under way any more', async () => {
    const machine = new LogMachine();
    const { log, fs } = await machine.open();
    const syncs = holdSyncs(fs);
    const records = numbered(100, 200);
    const claims = records.map((record) => log.append(`${record}\n`));
    void claims[0]?.durable();
    for (const claim of claims) void claim.written();
    while (!log.isDurable) {
      await settled();
      const { segments } = machine;
      await syncs.release();
      if (machine.segments.length > segments.length) expect(machine.segments.length).toBe(segments.length + 1);
      void claims.at(-1)?.durable();
    }
    await syncs.end();
    await log.close();
    expect((await machine.reopen()).records).toEqual(records);
  });

  it('syncs a written batch when somebody asks after all', async () => {
    const machine = new LogMachine();
    const { log } = await machine.open();
    const claim = log.append('claim\n');
    await claim.written();
    await claim.durable();
    machine.disk.cutPower();
    expect((await machine.reopen()).records).toEqual(['claim']);
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

describe('removing the oldest segment', () => {
  async function withSegments(count: number, fsync: 'always' | 'never' = 'always') {
    const machine = new LogMachine();
    const opened = await machine.open({ fsync });
    while (opened.log.stats().segments < count) await opened.log.append(`${'x'.repeat(500)}\n`).written();
    return { machine, ...opened };
  }

  it.each(['always', 'never'] as const)('has the copies on disk before the segment is gone in %s', async (fsync) => {
    const { machine, log } = await withSegments(3, fsync);
    log.append('copy\n', 'cleaner');
    await log.removeOldest(1);
    machine.disk.cutPower();
    expect(machine.segments).not.toContain('wal-0000000001.log');
    expect((await machine.reopen()).records).toContain('copy');
  });

  it('may be interrupted anywhere', async () => {
    for (let call = 1; ; call++) {
      const { machine, log, fs } = await withSegments(3);
      let calls = 0;
      fs.fault = () => (++calls === call ? 'EIO' : undefined);
      log.append('copy\n', 'cleaner');
      const code = await codeOf(log.removeOldest(1));
      machine.disk.cutPower({ names: true });
      const { records } = await machine.reopen();
      expect(machine.segments.includes('wal-0000000001.log') || records.includes('copy')).toBe(true);
      if (code === undefined) break;
      expect(call).toBeLessThan(20);
    }
  });

  it('refuses any other than the oldest, and the current one', async () => {
    const { log } = await withSegments(2);
    expect(await codeOf(log.removeOldest(2))).toBe('invalid_argument');
    await log.removeOldest(1);
    expect(await codeOf(log.removeOldest(2))).toBe('invalid_argument');
    expect(log.stats()).toMatchObject({ oldestSegment: 2, currentSegment: 2, segments: 1 });
    await log.close();
  });
});
