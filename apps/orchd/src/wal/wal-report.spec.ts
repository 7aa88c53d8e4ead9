import { describe, expect, it } from '@jest/globals';
import { lossLine, recordLines, salvageCommand } from './wal-report.js';

describe('the salvage command', () => {
  it.each([
    ['/var/lib/orchd', '/var/lib/orchd'],
    ['/my data', "'/my data'"],
    ["/it's; rm *", String.raw`'/it'\''s; rm *'`],
    ['-x', './-x'],
  ])('takes %j as one word of a shell', (dir, word) => {
    expect(salvageCommand(dir)).toBe(`orchd wal salvage ${word} --to NEW_DIR`);
  });
});

describe('a loss', () => {
  const place = { file: 'wal-0000000001.log', offset: 4280, bytes: 184, record: 5 };

  it.each([
    ['one record', { ...place, count: 1 }, '184 bytes, record 5'],
    ['several', { ...place, count: 3 }, '184 bytes, records 5 to 7'],
    ['none', { ...place, count: 0 }, '184 bytes, no record'],
    ['nobody knows how many', place, '184 bytes, record 5 and what came after it'],
    ['a whole file', { ...place, bytes: 0, count: 2 }, 'missing before it, records 5 to 6'],
  ])('names its place and its records: %s', (_what, loss, text) => {
    expect(lossLine(loss)).toBe(`lost: wal-0000000001.log, offset 4280: ${text}`);
  });
});

it('a record that is not JSON is dumped as a string, so that every line stays JSON', () => {
  const frame = { kind: 1, first: 7, count: 2, durable: 6, bodyStart: 0, bodyEnd: 0, end: 0 };
  const batch = {
    kind: 'batch',
    file: 'wal-0000000001.log',
    segment: 1,
    offset: 4096,
    batch: frame,
    lines: ['["c"]', 'no "JSON"'],
  } as const;
  const lines = recordLines({ ...batch, lines: [...batch.lines] })
    .trimEnd()
    .split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { segment: 1, offset: 4096, number: 7, record: ['c'] },
    { number: 8, record: 'no "JSON"' },
  ]);
});
