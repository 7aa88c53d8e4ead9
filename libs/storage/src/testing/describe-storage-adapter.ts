import { chapters } from './chapters/index.js';
import { caseTitle, runCase } from './kit-case.js';
import type { StorageFixtureFactory } from './storage-fixture.js';

// The runner's own (Jest, Vitest, node:test with globals, Mocha): the kit belongs to none of them.
declare const describe: (title: string, body: () => void) => void;
declare const it: (title: string, body: () => Promise<void>) => void;

/**
 * The conformance kit: an adapter that passes it can carry orchd. To be called once, at the top of a spec file. `create` is called for
 * every case and gives it a storage of its own; which chapters apply is decided by the `capabilities` that the adapter declares.
 */
export function describeStorageAdapter(name: string, factory: StorageFixtureFactory): void {
  describe(name, () => {
    for (const chapter of chapters) {
      describe(chapter.title, () => {
        for (const kitCase of chapter.cases) {
          it(caseTitle(kitCase), async () => void (await runCase(kitCase, factory)));
        }
      });
    }
  });
}
