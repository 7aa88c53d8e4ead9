import { codeOf, LogMachine, numbered } from './log.fixture.js';

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

  it('is done once when it is asked for twice', async () => {
    const { machine, log } = await withSegments(4);
    expect(await Promise.all([codeOf(log.removeOldest(1)), codeOf(log.removeOldest(1))])).toEqual([undefined, 'invalid_argument']);
    expect(machine.segments[0]).toBe('wal-0000000002.log');
    await log.close();
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
