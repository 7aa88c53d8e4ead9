import { jest } from '@jest/globals';
import { codeOf, holdSyncs, LogMachine, numbered, seededRandom, settled, withSeed } from './log.fixture.js';
import type { PowerCut } from './memory-disk.fixture.js';
import type { WriteAheadLog } from './write-ahead-log.js';

/** Many hundred openings in one test, on a machine that may be busy. */
jest.setTimeout(60_000);

/** What the caller knows: a record is acked once `durable` has resolved, sent once it was appended. */
interface Ledger {
  sent: string[];
  acked: Set<string>;
}

/** The log's history after a crash is a beginning of what was sent, and holds all that was acknowledged. */
function expectHonest(records: string[], { sent, acked }: Ledger): void {
  expect(records).toEqual(sent.slice(0, records.length));
  expect([...acked].filter((record) => !records.includes(record))).toEqual([]);
}

function send(log: WriteAheadLog, ledger: Ledger, record: string): Promise<unknown> {
  const batch = log.append(`${record}\n`);
  ledger.sent.push(record);
  return batch.durable().then(
    () => ledger.acked.add(record),
    () => undefined,
  );
}

/** A write of this size is cut at every byte, a larger one (zeroes of spares among it) at every STEP-th. */
const EVERY_BYTE_UP_TO = 200;
const STEP = 173;

const KINDS = {
  'an enqueue': numbered(1, 60),
  'an empty record': [''],
  'text beyond ASCII': ['Zürich 日本 \u{1f600}'],
  'a call of several records': ['one\ntwo\nthree'],
  'a record with the filling at its longest': ['x'.repeat(8)],
  'a record that needs the next segment': ['y'.repeat(3900)],
  'a record larger than a segment': ['z'.repeat(5000)],
};

describe('a power cut at any moment of an append', () => {
  it.each(Object.entries(KINDS))('leaves a beginning of history, whatever part of %s reached the disk', async (_, [record = '']) => {
    const before = numbered(3, 60, 'before');
    const whole = [...before, ...record.split('\n')];
    const machine = new LogMachine();
    const { log, fs } = await machine.open();
    for (const one of before) await log.append(`${one}\n`).durable();
    const syncs = holdSyncs(fs);
    let acked = false;
    void log
      .append(`${record}\n`)
      .durable()
      .then(() => (acked = true));
    for (await settled(); ; await syncs.release()) {
      const total = machine.disk.unsyncedBytes;
      const step = total <= EVERY_BYTE_UP_TO ? 1 : STEP;
      const cuts: PowerCut[] = Array.from({ length: 20 }, (_unused, seed) => ({ random: seededRandom(seed) }));
      for (let bytes = 0; bytes <= total; bytes += step) cuts.push({ bytes, names: bytes % 2 === 0 });
      for (const [index, cut] of cuts.entries()) {
        const copy = machine.copyAfterPowerCut(cut);
        const { records } = await copy.reopen();
        expect(acked ? [whole] : [before, whole]).toContainEqual(records);
        if (index % 10 === 0) expect((await copy.reopen()).records).toEqual(records);
      }
      if (acked && syncs.underWay() === 0) break;
    }
    await syncs.end();
    await log.close();
  });
});

describe('power cuts at random', () => {
  const SEEDS = Array.from({ length: Number(process.env.ORCHD_TEST_SEEDS ?? 20) }, (_, index) => index + 1);

  it.each(SEEDS)('keep all that was acknowledged, several boots in a row (seed %i)', (seed) =>
    withSeed(seed, async (random) => {
      const machine = new LogMachine();
      const ledger: Ledger = { sent: [], acked: new Set() };
      for (let boot = 0; boot < 5; boot++) {
        const { log, records, clock } = await machine.open();
        expectHonest(records, ledger);
        // What was in doubt is decided now.
        ledger.sent = records;
        const until = Math.floor(random() * 40);
        for (let n = 0; n < until; n++) {
          if (random() < 0.2) {
            const lazy = `${boot}.${n} lazy`;
            void log
              .append(`${lazy}\n`)
              .written()
              .catch(() => undefined);
            ledger.sent.push(lazy);
          }
          const answer = send(log, ledger, `${boot}.${n} `.padEnd(Math.floor(random() * 600), '.'));
          if (random() < 0.5) await answer;
          else if (random() < 0.3) await settled(1);
          if (random() < 0.05) clock.advance(200);
        }
        await settled(Math.floor(random() * 3));
        machine.disk.cutPower(random() < 0.5 ? { random } : { bytes: Math.floor(random() * 2000), names: random() < 0.5 });
      }
      expectHonest((await machine.reopen()).records, ledger);
    }),
  );

  it.each(SEEDS)('in the middle of an opening lose nothing either (seed %i)', (seed) =>
    withSeed(seed, async (random) => {
      const machine = new LogMachine();
      const ledger: Ledger = { sent: [], acked: new Set() };
      const { log } = await machine.open();
      for (const record of numbered(40, 120)) await send(log, ledger, record);
      void send(log, ledger, 'in doubt');
      await settled(1);
      machine.disk.cutPower({ random });
      for (let round = 0; round < 5; round++) {
        const last = Math.floor(random() * 100);
        await codeOf(machine.open({}, { fault: ({ number }) => (number >= last ? 'EIO' : undefined) }));
        machine.disk.cutPower({ random });
      }
      expectHonest((await machine.reopen()).records, ledger);
    }),
  );
});
