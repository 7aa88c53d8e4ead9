import { endOfBatches } from './damage.fixture.js';
import { codeOf, LogMachine, numbered } from './log.fixture.js';
import { encodeHeader } from './segment-header.js';

const HEADER = { segment: 2, firstRecord: 4, boot: 2, epochFloor: 1, salt: Buffer.alloc(8, 1) };

describe('a segment whose creation was cut short', () => {
  it.each([
    ['empty', () => Buffer.alloc(0)],
    ['zeroes', () => Buffer.alloc(8192)],
    ['half a header', () => Buffer.concat([encodeHeader(HEADER).subarray(0, 40), Buffer.alloc(8152)])],
  ])('is deleted, and its number used again (%s)', async (_, content) => {
    const machine = new LogMachine();
    await machine.writeAndKill(numbered(3));
    machine.disk.plant('/log/wal-0000000002.log', content());
    const { log, records, warnings } = await machine.open();
    expect(records).toEqual(numbered(3));
    expect(warnings).toEqual([]);
    expect(log.stats().currentSegment).toBe(2);
    await log.close();
    expect((await machine.reopen()).records).toEqual(numbered(3));
  });

  it('is deleted when it is the only one', async () => {
    const machine = new LogMachine();
    machine.disk.folders.add('/log');
    machine.disk.plant('/log/wal-0000000001.log', Buffer.alloc(100));
    await machine.reopen();
    expect((await machine.reopen()).records).toEqual([]);
  });
});

describe('opening', () => {
  it('writes again what may have reached the page cache only', async () => {
    const machine = new LogMachine();
    const { log, fs } = await machine.open();
    await log.append('safe\n').durable();
    fs.fault = ({ method }) => (method === 'sync' ? 'EIO' : undefined);
    expect(await codeOf(log.append('in the cache\n').durable())).toBe('outcome_unknown');
    machine.disk.kill();
    const { records } = await machine.open();
    expect(records).toEqual(['safe', 'in the cache']);
    machine.disk.cutPower();
    expect((await machine.reopen()).records).toEqual(['safe', 'in the cache']);
  });

  it('gives back what segments of ended boots did not use', async () => {
    const machine = new LogMachine();
    await machine.writeAndKill(numbered(3), { segmentBytes: 2 ** 20 });
    const used = endOfBatches(machine.bytesOfSegment(1));
    await machine.reopen();
    expect(machine.bytesOfSegment(1).length).toBe(used);
  });

  it('deletes drafts and keeps strange files', async () => {
    const machine = new LogMachine();
    await machine.writeAndKill(numbered(3));
    machine.disk.plant('/log/spare-99.tmp.new', Buffer.alloc(10));
    machine.disk.plant('/log/notes.txt', Buffer.from('mine'));
    await machine.reopen();
    expect(machine.files).toContain('notes.txt');
    expect(machine.files).not.toContain('spare-99.tmp.new');
  });

  it('uses the spares of the boot before it', async () => {
    const machine = new LogMachine();
    await machine.reopen();
    const { fs } = await machine.reopen();
    expect(fs.calls.filter(({ method, path }) => method === 'rename' && path.includes('spare'))).toHaveLength(1);
  });

  it('does not write into a spare that has become a segment under its old name', async () => {
    const machine = new LogMachine();
    await machine.writeAndKill(numbered(3));
    const segment = machine.disk.names.get('/log/wal-0000000001.log');
    machine.disk.setName('/log/spare-1.tmp', segment);
    await machine.reopen();
    expect((await machine.reopen()).records).toEqual(numbered(3));
  });

  it('takes a read error for what it is, not for the end of the log', async () => {
    const machine = new LogMachine();
    await machine.writeAndKill(numbered(3));
    const before = machine.bytesOfSegment(1);
    for (const method of ['open', 'read', 'size', 'list']) {
      const failing = machine.open({}, { fault: (call) => (call.method === method && !call.path.endsWith('LOCK') ? 'EIO' : undefined) });
      expect(await codeOf(failing)).toBe('storage_unavailable');
    }
    expect(machine.bytesOfSegment(1).equals(before)).toBe(true);
    expect((await machine.reopen()).records).toEqual(numbered(3));
  });

  it('refuses a folder that another one has, and does not touch it', async () => {
    const machine = new LogMachine();
    const { log } = await machine.open();
    await log.append('x\n').durable();
    const before = machine.bytesOfSegment(1);
    await expect(machine.open()).rejects.toMatchObject({ code: 'storage_locked', message: expect.stringContaining(`pid ${process.pid}`) });
    expect(machine.bytesOfSegment(1).equals(before)).toBe(true);
    await log.append('y\n').durable();
    await log.close();
    expect((await machine.reopen()).records).toEqual(['x', 'y']);
  });

  it('warns of a disk that does not sync', async () => {
    const machine = new LogMachine();
    const { warnings } = await machine.reopen({}, { syncMs: 0.004 });
    expect(warnings).toMatchObject([{ message: expect.stringContaining('does not sync') }]);
  });

  it('tells the progress in bytes, up to all', async () => {
    const machine = new LogMachine();
    await machine.writeAndKill(numbered(100));
    const seen: [number, number][] = [];
    await machine.open({}, { replay: { progress: (done, total) => seen.push([done, total]) } });
    const total = seen[0]?.[1] ?? 0;
    expect(total).toBeGreaterThan(10_000);
    expect(seen.at(-1)).toEqual([total, total]);
    machine.disk.kill();
  });
});
