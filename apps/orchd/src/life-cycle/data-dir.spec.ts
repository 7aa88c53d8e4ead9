import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareDataDir } from './data-dir.js';
import { EXIT } from './exit-codes.js';

describe('the data folder', () => {
  let root: string;
  beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'orchd-data-dir-'))));
  afterEach(() => rmSync(root, { recursive: true }));

  it('is made, its parents too, for nobody else to read', () => {
    const dir = join(root, 'a/b/c');
    prepareDataDir(dir);
    prepareDataDir(dir);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  it('is refused where a file stands', () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    for (const dir of [file, join(file, 'below')]) {
      expect(() => prepareDataDir(dir)).toThrow(expect.objectContaining({ exitCode: EXIT.storageFailed }));
    }
  });

  it('is refused, not tried for ever, where no folder can be made', () => {
    expect(() => prepareDataDir('/proc/orchd/data')).toThrow(expect.objectContaining({ exitCode: EXIT.storageFailed }));
  });
});
