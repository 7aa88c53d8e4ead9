import { brokenName, draftName, segmentName, sortFolder, spareName } from './file-names.js';

describe('names in the folder', () => {
  it('finds its own, in the order of their numbers', () => {
    const names = [segmentName(10_000_000_000), segmentName(2), spareName(10), spareName(9), brokenName(3, 4096), brokenName(2, 9000)];
    expect(sortFolder([...names, draftName(spareName(11)), draftName(brokenName(1, 1))])).toEqual({
      segments: [2, 10_000_000_000],
      spares: [9, 10],
      broken: [brokenName(2, 9000), brokenName(3, 4096)],
      drafts: [draftName(spareName(11)), draftName(brokenName(1, 1))],
    });
  });

  it('leaves alone what is not its own', () => {
    const strange = [
      'LOCK',
      'lost+found',
      'wal-1.log',
      'wal-00000000001.log',
      'wal-0000000001.log.bak',
      'spare-.tmp',
      'spare-01.tmp',
      'x.new',
    ];
    expect(sortFolder(strange)).toEqual({ segments: [], spares: [], broken: [], drafts: [] });
  });
});
