import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

  it('is removed again if the start ends for another reason, and nobody uses it', () => {
    const parent = join(root, 'a');
    prepareDataDir(join(parent, 'b/c'))();
    expect(existsSync(parent)).toBe(false);
    const undo = prepareDataDir(join(parent, 'b/c'));
    mkdirSync(join(parent, 'b/other'));
    undo();
    expect(existsSync(join(parent, 'b/other'))).toBe(true);
    expect(existsSync(join(parent, 'b/c'))).toBe(false);
    prepareDataDir(parent)();
    expect(existsSync(parent)).toBe(true);
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
