import { isJobImporter, type StorageAdapter } from '../contract/index.js';
import type { StorageFixture, StorageFixtureFactory } from './storage-fixture.js';
import { Workbench } from './workbench.js';

/** Which adapters a case is about, by what they declare of themselves; an `importer` has the optional port of that name. */
export type KitCondition = 'persistent' | 'shared' | 'unshared' | 'importer';

/** A claim about every storage adapter, and how to try it. Plain data, so that any runner, and the kit's own test, can run it. */
export interface KitCase {
  /** What holds. */
  readonly title: string;
  /** All adapters, where it is not given. */
  readonly only?: readonly KitCondition[];
  /** The adapter is handed over closed; otherwise it is open. */
  readonly closed?: true;
  readonly run: (bench: Workbench) => Promise<void>;
}

export interface KitChapter {
  readonly title: string;
  readonly cases: readonly KitCase[];
}

/** The title, with the condition that an adapter outside it sees as passed without a trial. */
export function caseTitle({ title, only }: KitCase): string {
  return only === undefined ? title : `${title} [${only.join(', ')} adapters]`;
}

/** Runs one case on a storage of its own and leaves nothing behind. Resolves with false when the case is not about this adapter. */
export async function runCase(kitCase: KitCase, { create }: StorageFixtureFactory): Promise<boolean> {
  const fixture = await create();
  const about = isAbout(kitCase.only, fixture.adapter);
  try {
    if (about) await tryOut(kitCase, fixture);
  } catch (failure) {
    await fixture.dispose().catch(() => undefined); // The first failure is the one to see.
    throw failure;
  }
  await fixture.dispose();
  return about;
}

async function tryOut(kitCase: KitCase, fixture: StorageFixture): Promise<void> {
  const bench = new Workbench(fixture);
  if (!kitCase.closed) await fixture.adapter.open();
  await kitCase.run(bench);
  await bench.checkBooks();
}

function isAbout(conditions: readonly KitCondition[] = [], adapter: StorageAdapter): boolean {
  const { persistent, shared } = adapter.capabilities;
  const holds: Record<KitCondition, boolean> = { persistent, shared, unshared: !shared, importer: isJobImporter(adapter) };
  return conditions.every((condition) => holds[condition]);
}
