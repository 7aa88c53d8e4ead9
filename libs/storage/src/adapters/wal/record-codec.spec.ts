import { backoffDelayMs, hasCode, type CheckedJob, type JobRecord } from '../../contract/index.js';
import { JobTable, type Now, type TableEvent } from '../../job-table/index.js';
import { seededRandom } from '../../job-table/seeded-random.fixture.js';
import { encodeEvent, encodeJob, RecordDecoder } from './record-codec.js';

const STEPS = 6000;
const NASTY = ['', '"]\n["p",["x"]]', '\u2028\u0000\\', 'žluťoučký 🐎', '{"a":1}'];

function newJob(i: number, random: () => number): CheckedJob {
  const keyed = random() < 0.3;
  return {
    id: `job-${i}`,
    queue: random() < 0.5 ? 'default' : 'mail',
    type: 'noop',
    payload: NASTY[i % NASTY.length]!,
    priority: Math.floor(random() * 10),
    delayMs: random() < 0.3 ? Math.floor(random() * 500) : 0,
    runAt: null,
    maxAttempts: 1 + Math.floor(random() * 3),
    maxRequeues: Math.floor(random() * 4),
    timeoutMs: 0,
    backoff: { baseMs: 10, capMs: 1000 },
    dedupeKey: keyed ? `key "${i}"` : null,
    fingerprint: keyed ? 'f' : null,
  };
}

/** A life of a table, told as the lines a log would hold. Now and then a job is copied, as the cleaner does. */
function live(seed: number) {
  const random = seededRandom(seed);
  const table = new JobTable({ random });
  const lines: string[] = [];
  const now = { wall: 1_700_000_000_000, mono: 0 };
  const leases: JobRecord[] = [];
  const keep = (event: TableEvent | null) => void (event !== null && lines.push(encodeEvent(event)));
  const quietly = (action: () => void) => {
    try {
      action();
    } catch (error) {
      if (!['lease_lost', 'already_finished', 'not_found', 'not_dead', 'conflict'].some((code) => hasCode(error, code as never)))
        throw error;
    }
  };
  const someId = () => `job-${Math.floor(random() * STEPS)}`;
  const verbs: ((i: number) => void)[] = [
    (i) => {
      const plan = table.prepare([newJob(i, random)], now);
      for (const entry of plan.fresh) lines.push(encodeJob(entry));
      table.commit(plan);
    },
    () => {
      keep(table.promote(now));
      const claimed = table.claim(random() < 0.5 ? 'default' : 'mail', 1 + Math.floor(random() * 4), now);
      if (claimed === null) return;
      keep(claimed.event);
      leases.push(...claimed.entries.map((entry) => entry.toRecord()));
    },
    () => {
      const lease = leases.splice(Math.floor(random() * leases.length), 1)[0];
      if (lease === undefined) return;
      const end = random();
      if (end < 0.4) keep(table.ack(lease, NASTY[Math.floor(random() * NASTY.length)]!, now).event);
      else if (end < 0.7)
        keep(table.nack(lease, { code: 'failed', message: NASTY[1]! }, { retryInMs: backoffDelayMs(lease.backoff, 1, random) }, now).event);
      else if (end < 0.8) keep(table.release(lease, Math.floor(random() * 3), now).event);
      else keep(table.requeue(lease, 'hung', now).event);
    },
    () => keep(table.cancel(someId(), now)),
    () => keep(table.redrive(someId(), now)),
    () => keep(table.prune({ keepFinished: 200, keepFinishedMs: 2000, keepDeadMs: 0 }, now)),
    () => {
      const entry = table.jobs.get(someId());
      if (entry?.state === 'active') keep(table.note(entry.id, { percent: 50, note: NASTY[3]! }, [NASTY[2]!]));
      else if (entry !== undefined) lines.push(encodeJob(entry));
    },
  ];
  for (let i = 0; i < STEPS; i++) {
    now.wall += 1;
    now.mono += 1;
    const at = Math.floor(random() * (verbs.length + 2));
    quietly(() => verbs[Math.min(at, verbs.length + 1) % verbs.length]!(i));
  }
  return { table, lines, now };
}

function replay(lines: readonly string[]): JobTable {
  const table = new JobTable({ random: () => 0 });
  const decoder = new RecordDecoder();
  table.beginReplay();
  for (const line of lines) table.apply(decoder.decode(line));
  return table;
}

function snapshot(table: JobTable): JobRecord[] {
  return table.jobs.scan({}, null, Infinity, Infinity).matches.map((entry) => entry.toRecord());
}

function claimOrder(table: JobTable, now: Now): string[] {
  return ['default', 'mail'].flatMap((queue) => table.claim(queue, Infinity, now)?.entries.map((entry) => entry.id) ?? []);
}

describe('record codec', () => {
  it.each([11, 12, 13, 14])('leads a replay to the very table that wrote the lines (seed %i)', (seed) => {
    const { table, lines, now } = live(seed);
    const again = replay(lines);
    expect(snapshot(again)).toEqual(snapshot(table));
    expect(again.counts()).toEqual(table.counts());
    expect(again.latestMono).toBeLessThanOrEqual(now.mono);

    const activeBefore = table.counts().active;
    expect(again.endReplay(now, 0)).toHaveLength(activeBefore);
  });

  it.each([15, 16])('changes nothing when a copy of every job has overtaken the last lines (seed %i)', (seed) => {
    const { table, lines } = live(seed);
    const copies = [...table.jobs.all()].map(encodeJob);
    const overtaken = lines.slice(-500).filter((line) => !line.startsWith('["j"'));
    expect(snapshot(replay([...lines, ...copies, ...overtaken]))).toEqual(snapshot(table));
  });

  it.each([21, 22])('keeps the turn of every ready job (seed %i)', (seed) => {
    const { table, lines, now } = live(seed);
    const again = replay(lines);
    const takenAway = new Set(again.endReplay(now, 0).map((event) => event.id));
    const inherited = claimOrder(again, now).filter((id) => !takenAway.has(id));
    expect(inherited).toEqual(claimOrder(table, now));
  });

  it('gives one line per event, whatever the texts hold', () => {
    const { lines } = live(31);
    for (const line of lines) {
      expect(line.endsWith('\n')).toBe(true);
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect(Array.isArray(JSON.parse(line))).toBe(true);
    }
  });

  it.each(['["?",1]', '{"a":1}', 'not json', '["j"'])('refuses a record it does not know: %s', (line) => {
    expect(() => new RecordDecoder().decode(line)).toThrow(expect.objectContaining({ code: 'storage_damaged' }));
  });
});
