import path from 'node:path';
import { OrchdError } from '../../../contract/errors.js';
import { unavailable } from './damage.js';
import { draftName, MIGRATED_NAME } from './file-names.js';
import { errorCode, writeAll, type FileSystem } from './file-system.js';

/** What stands in MIGRATED: where the jobs of this folder were, or are being, moved. */
export interface MigratedMarker {
  /** For people, and to tell one target from another. Without password. */
  readonly to: string;
  readonly begunAt: string;
  /** Null until all of them are there. */
  readonly finishedAt: string | null;
}

/** Null where there is none. One that cannot be understood says so in `to`: that it is there is what counts. */
export async function readMarker(fs: FileSystem, dir: string): Promise<MigratedMarker | null> {
  try {
    const file = await fs.open(path.join(dir, MIGRATED_NAME), 'read');
    try {
      const bytes = Buffer.alloc(await file.size());
      return parse(bytes.toString('utf8', 0, await file.read(bytes, 0)));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw unavailable(`Cannot read ${MIGRATED_NAME} in ${dir}`, error);
  }
}

/** Resolves when the marker would survive a power cut; until then the one before is there, or none. */
export async function writeMarker(fs: FileSystem, dir: string, marker: MigratedMarker): Promise<void> {
  const name = path.join(dir, MIGRATED_NAME);
  const draft = draftName(name);
  try {
    await fs.unlink(draft).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error;
    });
    const file = await fs.open(draft, 'create');
    try {
      await writeAll(file, Buffer.from(`${JSON.stringify(marker)}\n`), 0);
      await file.sync();
    } finally {
      await file.close();
    }
    await fs.rename(draft, name);
    const folder = await fs.openFolder(dir);
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    throw unavailable(`Cannot write ${MIGRATED_NAME} in ${dir}`, error);
  }
}

/** Throws `storage_migrated` for a folder whose jobs live elsewhere: opened here as well, they would run twice. */
export async function refuseMigrated(fs: FileSystem, dir: string): Promise<void> {
  const marker = await readMarker(fs, dir);
  if (marker === null) return;
  const what =
    marker.finishedAt === null
      ? `a move of its jobs to ${marker.to} was begun ${marker.begunAt} and has not ended: repeat orchd migrate`
      : `its jobs were moved to ${marker.to} ${marker.finishedAt}`;
  throw new OrchdError('storage_migrated', `${dir} is marked ${MIGRATED_NAME}: ${what} (to open it here all the same: --force)`);
}

function parse(text: string): MigratedMarker {
  try {
    const { to, begunAt, finishedAt } = JSON.parse(text) as Partial<MigratedMarker>;
    if (typeof to === 'string' && typeof begunAt === 'string') return { to, begunAt, finishedAt: finishedAt ?? null };
  } catch {
    // told below
  }
  return { to: 'a place that cannot be read', begunAt: 'at a time that cannot be read', finishedAt: null };
}
