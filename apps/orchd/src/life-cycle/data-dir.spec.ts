import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkDataDir } from './data-dir.js';
import { EXIT } from './exit-codes.js';

describe('the data folder', () => {
  let root: string;
  beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'orchd-data-dir-'))));
  afterEach(() => rmSync(root, { recursive: true }));

  it('may be there or not, and is not made by looking', () => {
    checkDataDir(root);
    checkDataDir(join(root, 'a/b/c'));
    expect(readdirSync(root)).toEqual([]);
  });

  it('is refused where a file stands', () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    for (const dir of [file, join(file, 'below')]) {
      expect(() => checkDataDir(dir)).toThrow(expect.objectContaining({ exitCode: EXIT.storageFailed }));
    }
  });
});
