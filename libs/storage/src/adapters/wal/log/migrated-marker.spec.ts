import { codeOf, LogMachine } from './log.fixture.js';
import { readMarker, writeMarker, type MigratedMarker } from './migrated-marker.js';
import { MemoryFileSystem } from './memory-file-system.fixture.js';

const BEGUN: MigratedMarker = { to: 'redis://there', begunAt: '2026-01-01T00:00:00.000Z', finishedAt: null };
const FINISHED: MigratedMarker = { ...BEGUN, finishedAt: '2026-01-01T00:00:01.000Z' };

async function marked(...markers: MigratedMarker[]): Promise<LogMachine> {
  const machine = new LogMachine();
  await machine.writeAndKill(['a']);
  for (const marker of markers) await writeMarker(new MemoryFileSystem(machine.disk), '/log', marker);
  return machine;
}

describe('the marker of a folder whose jobs were moved away', () => {
  it.each([
    ['begun', [BEGUN]],
    ['finished', [BEGUN, FINISHED]],
  ])('survives a power cut, and refuses the folder (%s)', async (_, markers) => {
    const machine = await marked(...markers);
    machine.disk.cutPower();
    expect(await readMarker(new MemoryFileSystem(machine.disk), '/log')).toEqual(markers.at(-1));
    expect(await codeOf(machine.open())).toBe('storage_migrated');
  });

  it('refuses the folder whatever stands in it', async () => {
    const machine = await marked();
    machine.disk.plant('/log/MIGRATED', Buffer.from('{"to"'));
    expect(await codeOf(machine.open())).toBe('storage_migrated');
  });

  it('is written over a draft that an earlier writer left', async () => {
    const machine = await marked();
    machine.disk.plant('/log/MIGRATED.new', Buffer.from('{'));
    await writeMarker(new MemoryFileSystem(machine.disk), '/log', FINISHED);
    expect(await readMarker(new MemoryFileSystem(machine.disk), '/log')).toEqual(FINISHED);
  });

  it('is passed over by who opens the folder all the same', async () => {
    const machine = await marked(FINISHED);
    const { log, records } = await machine.open({ force: true });
    expect(records).toEqual(['a']);
    await log.close();
  });
});
