import { jest } from '@jest/globals';
import type { OrchdError } from '../../../contract/errors.js';
import { codeOf, LogMachine, numbered, settled } from './log.fixture.js';
import { systemError, type Call } from './memory-file-system.fixture.js';

/** Many hundred openings in one test, on a machine that may be busy. */
jest.setTimeout(60_000);

/** What a caller was told about each record. */
interface Ledger {
  acked: string[];
  refused: string[];
  unknown: string[];
}

const RECORDS = numbered(40, 180);

/** A boot with everything that a log does: several segments, lazy records, a removed segment, a close. */
async function scenario(machine: LogMachine, fault: (call: Call) => string | undefined): Promise<{ ledger: Ledger; failed: boolean }> {
  const ledger: Ledger = { acked: [], refused: [], unknown: [] };
  const { log, states, clock } = await machine.open({ preamble: () => 'state\n' }, { fault });
  /** A full disk is looked at again every second; an answer that still does not come then may come at close. */
  const soon = async (answer: Promise<unknown>) => {
    let come = false;
    void answer.finally(() => (come = true));
    for (let second = 0; second < 3 && !come; second++) {
      await settled(10);
      clock.advance(second * 1000);
    }
  };
  const waiting: Promise<unknown>[] = [];
  for (const [index, record] of RECORDS.entries()) {
    try {
      const batch = log.append(`${record}\n`, 'settle');
      const told = (error: OrchdError) => (error.code === 'outcome_unknown' ? ledger.unknown : ledger.refused).push(record);
      const answer = batch.durable().then(() => ledger.acked.push(record), told);
      if (index % 3 === 0) await soon(answer);
      waiting.push(answer);
    } catch {
      ledger.refused.push(record);
    }
    if (index === 30) await soon(codeOf(log.removeOldest(log.stats().oldestSegment)));
  }
  await codeOf(log.close());
  await Promise.all(waiting);
  return { ledger, failed: states.some(({ state }) => state === 'failed') };
}

/** Segment 1 may be gone by then: what it held was given up with it. */
function expectHonest(records: string[], { acked, refused }: Ledger): void {
  const kept = records.filter((record) => record !== 'state' && record !== 'old');
  const oldest = RECORDS.indexOf(kept[0] ?? '');
  expect(kept.filter((record) => refused.includes(record))).toEqual([]);
  expect(acked.filter((record) => RECORDS.indexOf(record) >= oldest && !kept.includes(record))).toEqual([]);
}

describe.each(['once', 'from then on'] as const)('the n-th call of the file system fails, %s', (how) => {
  it.each(['EIO', 'ENOSPC', 'short'] as const)(
    'with %s, for every n: nothing acknowledged is lost, nothing refused appears',
    async (code) => {
      let reached = true;
      for (let n = 1; reached; n++) {
        const machine = new LogMachine();
        await machine.writeAndKill(['old']);
        reached = false;
        const fault = ({ number, method }: Call) => {
          if (method === 'close' || (how === 'once' ? number !== n : number < n)) return undefined;
          reached = true;
          return code === 'short' && method !== 'write' ? 'EIO' : code;
        };
        const outcome = await scenario(machine, fault).catch((error: OrchdError) => error);
        machine.disk.cutPower();
        const { records } = await machine.reopen();
        if (outcome instanceof Error) expect(outcome.code).toMatch(/^storage_(unavailable|full)$/);
        else expectHonest(records, outcome.ledger);
        expect((await machine.reopen()).records).toEqual(records);
      }
    },
  );
});

describe('a failed write or sync', () => {
  it.each(['write', 'sync'])('(%s) leaves the batch in flight unknown, refuses all others, and is the last', async (method) => {
    const machine = new LogMachine();
    const { log, fs, states } = await machine.open();
    await log.append('safe\n').durable();
    fs.fault = (call) => (call.method === method ? 'EIO' : undefined);
    const inFlight = log.append('in flight\n').durable();
    await settled(0);
    const told = codeOf(inFlight);
    const behind = log.append('behind\n'.repeat(1000));
    expect([await told, await codeOf(behind.durable()), await codeOf(behind.written())]).toEqual([
      'outcome_unknown',
      'storage_unavailable',
      'storage_unavailable',
    ]);
    fs.fault = () => undefined;
    const before = fs.calls.length;
    expect(() => log.append('later\n')).toThrow(expect.objectContaining({ code: 'storage_unavailable' }));
    expect(await codeOf(log.barrier())).toBe('storage_unavailable');
    expect(await codeOf(log.removeOldest(1))).toBe('storage_unavailable');
    await log.close();
    expect(fs.calls.slice(before)).toEqual([]);
    expect(states).toMatchObject([{ state: 'failed', cause: { code: 'storage_unavailable' } }]);
    expect(log.stats().state).toBe('failed');
  });

  it('is also a write that stops half way without an error', async () => {
    const machine = new LogMachine();
    const { log, fs } = await machine.open();
    fs.fault = ({ method }) => (method === 'write' ? 'short' : undefined);
    expect(await codeOf(log.append('half\n').durable())).toBe('outcome_unknown');
    machine.disk.cutPower();
    expect((await machine.reopen()).records).toEqual([]);
  });

  it('is the last also when the next flush is scheduled already', async () => {
    const machine = new LogMachine();
    const { log, fs } = await machine.open();
    let fail: (error: Error) => void;
    fs.gate = () => new Promise((_, reject) => (fail = reject));
    const lost = log.append('lost\n');
    const told = codeOf(lost.durable());
    await lost.written();
    await settled();
    log.append('behind\n');
    fail!(systemError('EIO', 'log'));
    fs.gate = undefined;
    const before = fs.calls.length;
    expect(await told).toBe('outcome_unknown');
    await settled();
    await log.close();
    expect(fs.calls.slice(before)).toEqual([]);
    machine.disk.cutPower();
    expect((await machine.reopen()).records).toEqual([]);
  });

  it('takes back the promise of a lazy record, too', async () => {
    const { log, fs } = await new LogMachine().open();
    const claim = log.append('claim\n');
    await claim.written();
    fs.fault = ({ method }) => (method === 'sync' ? 'EIO' : undefined);
    expect(await codeOf(log.append('ack\n').durable())).toBe('outcome_unknown');
    expect(await codeOf(claim.durable())).toBe('outcome_unknown');
    await log.close();
  });

  it('is never repeated: what a failed sync has dropped is not acknowledged by the next', async () => {
    const machine = new LogMachine();
    const { log, fs } = await machine.open();
    let syncs = 0;
    fs.fault = ({ method }) => (method === 'sync' && ++syncs === 1 ? 'EIO' : undefined);
    const codes = await Promise.all(numbered(5).map((record) => codeOf(log.append(`${record}\n`).durable())));
    expect(new Set(codes)).toEqual(new Set(['outcome_unknown']));
    await log.close();
    machine.disk.cutPower();
    expect((await machine.reopen()).records).toEqual([]);
  });

  it('in the background of interval fails the log', async () => {
    const { log, fs, clock, states } = await new LogMachine().open({ fsync: 'interval' });
    await log.append('x\n').durable();
    await settled();
    fs.fault = ({ method }) => (method === 'sync' ? 'EIO' : undefined);
    clock.advance(50);
    await settled();
    expect(states).toMatchObject([{ state: 'failed' }]);
    await log.close();
  });
});

describe('another process that has taken over', () => {
  it('is seen within a second, and ends this one', async () => {
    const machine = new LogMachine();
    const { log, clock, states } = await machine.open();
    machine.stealLock();
    await (await machine.open()).log.close();
    clock.advance(1000);
    await settled();
    expect(states).toMatchObject([{ state: 'failed', cause: { message: expect.stringContaining('has taken over') } }]);
    expect(log.takes('settle')).toBe(false);
    await log.close();
  });

  it('is seen before a new segment is begun', async () => {
    const machine = new LogMachine();
    const { log } = await machine.open();
    machine.stealLock();
    await (await machine.open()).log.close();
    const { segments } = machine;
    expect(await codeOf(log.append(`${'x'.repeat(5000)}\n`).durable())).toBe('storage_unavailable');
    expect(machine.segments).toEqual(segments);
    await log.close();
  });
});
