import { codeOf, holdSyncs, LogMachine, numbered, SEGMENT_BYTES, settled, type OpenedLog } from './log.fixture.js';
import { HEADER_BYTES } from './segment-header.js';

const RECORD = `${'x'.repeat(500)}\n`;

/** A log of some segments on a disk that has no space left for another spare, in the state `full`. */
async function fullLog(segments = 1): Promise<OpenedLog & { machine: LogMachine }> {
  const machine = new LogMachine();
  const opened = await machine.open();
  while (opened.log.stats().segments < segments) await opened.log.append(RECORD, 'enqueue').durable();
  await settled();
  machine.disk.capacityBytes = machine.disk.usedBytes;
  while (opened.log.state === 'open') {
    await opened.log.append(RECORD, 'enqueue').durable();
    await settled();
  }
  return { machine, ...opened };
}

describe('a full disk', () => {
  it('is a state: enqueues are refused, settles and the cleaner go on', async () => {
    const { machine, log, states } = await fullLog();
    expect(states).toMatchObject([{ state: 'full', cause: { code: 'storage_full' } }]);
    expect(() => log.append('new\n', 'enqueue')).toThrow(expect.objectContaining({ code: 'storage_full' }));
    expect(log.takes('enqueue')).toBe(false);
    await log.append('ack\n', 'settle').durable();
    await log.append('copy\n', 'cleaner').durable();
    machine.disk.cutPower();
    expect((await machine.reopen()).records).toEqual(expect.arrayContaining(['ack', 'copy']));
  });

  it('is met with most of a segment left for settles', async () => {
    const { log } = await fullLog();
    const { currentOffset } = log.stats();
    expect(currentOffset).toBeLessThan(HEADER_BYTES + SEGMENT_BYTES / 2);
    await log.close();
  });

  it('makes a settle wait that finds no room, and ends when there is space, without a restart', async () => {
    const { machine, log, clock, states } = await fullLog();
    const settles = numbered(12, 500, 'ack').map((record) => log.append(`${record}\n`, 'settle').durable());
    await settled();
    expect(log.stats().waitingBytes).toBeGreaterThan(0);
    machine.disk.capacityBytes = Infinity;
    clock.advance(999);
    await settled();
    expect(log.state).toBe('full');
    clock.advance(1);
    await settled();
    await Promise.all(settles);
    expect(states.map(({ state }) => state)).toEqual(['full', 'open']);
    await log.append('new\n', 'enqueue').durable();
    await log.close();
    expect((await machine.reopen()).records.slice(-13)).toEqual([...numbered(12, 500, 'ack'), 'new']);
  });

  it('is tried again every second', async () => {
    const { log, fs, clock } = await fullLog();
    for (let second = 0; second < 3; second++) {
      const before = fs.calls.length;
      clock.advance(1000);
      await settled();
      expect(fs.calls.slice(before).filter(({ method, path }) => method === 'open' && path.includes('spare'))).toHaveLength(1);
    }
    await log.close();
  });

  it('lets the cleaner past the settles that wait, into a segment of its own, and ends by its work', async () => {
    const { machine, log, states } = await fullLog(8);
    const settles = numbered(30, 500, 'ack').map((record) => log.append(`${record}\n`, 'settle').durable());
    await settled();
    const copies = numbered(5, 500, 'copy').map((record) => log.append(`${record}\n`, 'cleaner').durable());
    await Promise.all(copies);
    expect(log.stats().waitingBytes).toBeGreaterThan(0);
    while (log.state === 'full') {
      await log.removeOldest(log.stats().oldestSegment);
      await settled();
    }
    await Promise.all(settles);
    expect(states.at(-1)).toMatchObject({ state: 'open' });
    await log.close();
    const { records } = await machine.reopen();
    expect(records).toEqual(expect.arrayContaining([...numbered(30, 500, 'ack'), ...numbered(5, 500, 'copy')]));
    expect(records.indexOf(numbered(5, 500, 'copy')[4] ?? '')).toBeLessThan(records.indexOf(numbered(30, 500, 'ack')[29] ?? ''));
  });

  it('keeps the last spare for the cleaner, and the segment made of it', async () => {
    const { log } = await fullLog();
    for (const record of numbered(50, 500, 'ack')) log.append(`${record}\n`, 'settle');
    await settled();
    const before = log.stats().currentSegment;
    await log.append(`${'x'.repeat(2500)}\n`, 'cleaner').durable();
    expect(log.stats().currentSegment).toBe(before + 1);
    const { currentOffset } = log.stats();
    await settled();
    expect(log.stats().currentOffset).toBe(currentOffset);
    await log.close();
  });

  it('refuses at close what never found room', async () => {
    const { machine, log } = await fullLog();
    const settles = numbered(30, 500, 'ack').map((record) => codeOf(log.append(`${record}\n`, 'settle').durable()));
    await settled();
    await log.close();
    const codes = await Promise.all(settles);
    expect(codes.at(-1)).toBe('storage_full');
    const kept = (await machine.reopen()).records.filter((record) => record.startsWith('ack'));
    expect(kept).toHaveLength(codes.filter((code) => code === undefined).length);
  });

  it('is opened on with the spares of the dead boot, in the state full', async () => {
    const { machine } = await fullLog();
    machine.disk.cutPower();
    machine.disk.capacityBytes = machine.disk.usedBytes;
    const { log, states } = await machine.open();
    expect(states).toMatchObject([{ state: 'full' }]);
    await log.append('ack\n', 'settle').durable();
    await log.close();
  });

  it('cannot be opened on without any spare', async () => {
    const machine = new LogMachine();
    await machine.reopen();
    for (const name of machine.files.filter((file) => file.startsWith('spare'))) machine.remove(name);
    machine.damage(1, (bytes) => bytes.subarray(0, HEADER_BYTES));
    machine.disk.capacityBytes = machine.disk.usedBytes;
    expect(await codeOf(machine.open())).toBe('storage_full');
    machine.disk.capacityBytes = Infinity;
    await machine.reopen();
  });

  it('refuses an enqueue larger than a segment and goes on with what is behind it', async () => {
    const machine = new LogMachine();
    const { log, states } = await machine.open();
    machine.disk.capacityBytes = machine.disk.usedBytes;
    const large = log.append(RECORD.repeat(20), 'enqueue');
    const behind = log.append('behind\n', 'settle');
    expect(await codeOf(large.durable())).toBe('storage_full');
    await behind.durable();
    expect(states).toMatchObject([{ state: 'full' }]);
    await log.close();
    expect((await machine.reopen()).records).toEqual(['behind']);
  });

  it('refuses the enqueues that were taken and find no room any more; settles wait on', async () => {
    const machine = new LogMachine();
    const { log, fs, clock, states } = await machine.open();
    machine.disk.capacityBytes = machine.disk.usedBytes;
    const syncs = holdSyncs(fs);
    const enqueues = numbered(40, 500, 'new').map((record) => codeOf(log.append(`${record}\n`, 'enqueue').durable()));
    const settles = numbered(2, 500, 'ack').map((record) => log.append(`${record}\n`, 'settle'));
    await syncs.end();
    const codes = await Promise.all(enqueues);
    expect(states).toMatchObject([{ state: 'full' }]);
    expect(new Set(codes)).toEqual(new Set([undefined, 'storage_full']));
    machine.disk.capacityBytes = Infinity;
    clock.advance(1000);
    await Promise.all(settles.map((batch) => batch.durable()));
    await log.close();
    const kept = [...numbered(40, 500, 'new').filter((_, index) => codes[index] === undefined), ...numbered(2, 500, 'ack')];
    expect((await machine.reopen()).records).toEqual(kept);
  });

  it('leaves no half-made spare behind', async () => {
    const { machine, log } = await fullLog();
    expect(machine.files.filter((name) => name.endsWith('.new'))).toEqual([]);
    await log.close();
  });
});

describe('a process without free descriptors', () => {
  it('is treated like a full disk, and writes on', async () => {
    const { log, fs, clock, states } = await new LogMachine().open();
    fs.fault = ({ method }) => (method === 'open' ? 'EMFILE' : undefined);
    while (log.state === 'open') {
      await log.append(RECORD, 'enqueue').durable();
      await settled();
    }
    await log.append('ack\n', 'settle').durable();
    fs.fault = () => undefined;
    clock.advance(1000);
    await settled();
    expect(states.map(({ state }) => state)).toEqual(['full', 'open']);
    await log.close();
  });
});

describe('segments on a small disk', () => {
  async function segmentBytesOn(machine: LogMachine, capacity: number, segmentBytes: number): Promise<number> {
    machine.disk.capacityBytes = capacity;
    return (await machine.reopen({ segmentBytes })).log.segmentBytes;
  }

  it.each([
    ['as wanted where four of them fit half the disk', 8 * 2 ** 20, 2 ** 20, 2 ** 20],
    ['lowered where they do not', 4 * 2 ** 20, 16 * 2 ** 20, 2 ** 19],
    ['64 KiB at least', 2 ** 18, 16 * 2 ** 20, 64 * 1024],
    ['smaller only when asked to be', 2 ** 18, 4096, 4096],
  ])('are %s', async (_, capacity, wanted, expected) => {
    expect(await segmentBytesOn(new LogMachine(), capacity, wanted)).toBeLessThanOrEqual(expected);
    expect(await segmentBytesOn(new LogMachine(), capacity, wanted)).toBeGreaterThan(expected - 64);
  });

  it('do not shrink with every opening because of what the log holds itself', async () => {
    const machine = new LogMachine();
    const first = await segmentBytesOn(machine, 4 * 2 ** 20, 16 * 2 ** 20);
    for (let boot = 0; boot < 5; boot++) {
      expect(await segmentBytesOn(machine, 4 * 2 ** 20, 16 * 2 ** 20)).toBeGreaterThan(0.98 * first);
    }
  });
});
