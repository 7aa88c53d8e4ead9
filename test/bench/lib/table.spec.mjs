import { describe, expect, it } from '@jest/globals';
import { markdownTable } from './table.mjs';

describe('a table', () => {
  it('lines its columns up, names left and numbers right', () => {
    expect(
      markdownTable(
        ['workers', 'jobs/s'],
        [
          [1, '48.1'],
          [64, '2,830.6'],
        ],
      ),
    ).toBe(['| workers |  jobs/s |', '| ------- | ------: |', '| 1       |    48.1 |', '| 64      | 2,830.6 |'].join('\n'));
  });

  it('does not let a cell end its column', () => {
    expect(markdownTable(['a'], [['x|y']])).toContain('x\\|y');
  });
});
