import { Ledger, type LedgerEntry, type LedgerEvent } from './ledger.js';

function ledgerOf(jobs: number): { ledger: Ledger; entry: LedgerEntry; events: LedgerEvent[] } {
  const events: LedgerEvent[] = [];
  const ledger = new Ledger(jobs, 'run', (event) => events.push(event));
  const [entry] = ledger.entries;
  if (!entry) throw new Error('no entry');
  return { ledger, entry, events };
}

describe('Ledger', () => {
  it('stays in doubt about a submit that was refused after an attempt of unknown outcome', () => {
    const { ledger, entry } = ledgerOf(1);

    ledger.sent(entry, 0);
    ledger.failed(entry, 0, 'unknown', 'ECONNRESET');
    ledger.sent(entry, 0);
    ledger.failed(entry, 0, 'refused', '503 draining');

    expect(entry.standing).toBe('unknown');
  });

  it('calls a submit refused while no attempt can have been stored', () => {
    const { ledger, entry } = ledgerOf(1);

    ledger.sent(entry, 0);
    ledger.failed(entry, 0, 'refused', '503 starting');

    expect(entry.standing).toBe('refused');
    expect(ledger.acked).toBe(0);
  });

  it('ends every doubt with the ack', () => {
    const { ledger, entry, events } = ledgerOf(1);

    ledger.sent(entry, 1);
    ledger.failed(entry, 1, 'unknown', 'ECONNRESET');
    ledger.sent(entry, 0);
    ledger.ackedAs(entry, 0, { id: 'a', status: 200, state: 'done' });

    expect(entry).toMatchObject({ standing: 'acked', id: 'a', target: 0, final: true });
    expect(ledger.acked).toBe(1);
    expect(events.map(({ event, target }) => [event, target])).toEqual([
      ['sent', 1],
      ['unknown', 1],
      ['sent', 0],
      ['acked', 0],
    ]);
  });

  it('notices an id that two submits were given', () => {
    const { ledger } = ledgerOf(2);

    for (const entry of ledger.entries) ledger.ackedAs(entry, 0, { id: 'same', status: 201, state: 'ready' });

    expect(ledger.sharedIds).toEqual([ledger.entries[1]]);
    expect(ledger.acked).toBe(2);
  });

  it('gives no two submits the same key', () => {
    const { ledger } = ledgerOf(1000);

    expect(new Set(ledger.entries.map(({ key }) => key)).size).toBe(1000);
  });
});
