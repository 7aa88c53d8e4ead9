import { MemoryStorageAdapter } from '../adapters/memory/index.js';
import { WalFixture } from '../adapters/wal/wal.fixture.js';
import { chapters } from './chapters/index.js';
import { limits } from './chapters/limits.js';
import { walk } from './chapters/walk.js';
import { within } from './expectations.js';
import { runCase, type KitChapter } from './kit-case.js';
import { ManualClock } from './manual-clock.js';
import { enqueueMutations } from './mutations/enqueue-mutations.fixture.js';
import { leaseMutations } from './mutations/lease-mutations.fixture.js';
import { operatorMutations, readingMutations } from './mutations/operator-mutations.fixture.js';
import { movingMutations } from './mutations/moving-mutations.fixture.js';
import { orderMutations } from './mutations/order-mutations.fixture.js';
import { restartMutations } from './mutations/restart-mutations.fixture.js';
import { Sabotage, type Mutation } from './mutations/sabotage.fixture.js';
import { settleMutations } from './mutations/settle-mutations.fixture.js';
import { waitingMutations } from './mutations/waiting-mutations.fixture.js';
import type { StorageFixture } from './storage-fixture.js';

const MUTATIONS: readonly Mutation[] = [
  ...enqueueMutations,
  ...orderMutations,
  ...waitingMutations,
  ...leaseMutations,
  ...settleMutations,
  ...operatorMutations,
  ...readingMutations,
  ...movingMutations,
];
const SEEN_BY_A_WALK = MUTATIONS.filter((mutation) => mutation.walk !== false);

function fixture(random: () => number = Math.random): StorageFixture {
  const clock = new ManualClock();
  const adapter = new MemoryStorageAdapter({ clock, random });
  return {
    adapter,
    advance: async (ms) => clock.advance(ms),
    jumpWall: async (ms) => clock.jumpWall(ms),
    dispose: () => adapter.close(),
  };
}

/** The first case of the chapter that fails, by its title; null when all hold. */
async function firstRed(chapter: KitChapter, create: () => StorageFixture = () => fixture()): Promise<string | null> {
  for (const kitCase of chapter.cases) {
    try {
      await within(runCase(kitCase, { create }), kitCase.title);
    } catch {
      return kitCase.title;
    }
  }
  return null;
}

async function firstRedWith(mutation: Mutation, chapter: KitChapter, create?: () => StorageFixture): Promise<string | null> {
  const sabotage = new Sabotage();
  mutation.breaks(sabotage);
  try {
    return await firstRed(chapter, create);
  } finally {
    sabotage.end();
  }
}

const named = (mutations: readonly Mutation[]) => mutations.map((mutation) => [mutation.name, mutation] as const);

/** One walk of several; the memory adapter's own spec walks them all. */
const SHORT = chapters.map((chapter) => (chapter === walk ? { ...walk, cases: walk.cases.slice(0, 1) } : chapter));

describe('The conformance kit', () => {
  it.each(SHORT.map((chapter) => [chapter.title, chapter] as const))('is green on a sound storage: %s', async (_, chapter) => {
    expect(await firstRed(chapter)).toBeNull();
  });

  it.each(named(MUTATIONS))('goes red when %s', async (_, mutation) => {
    expect(await firstRedWith(mutation, mutation.noticedBy)).not.toBeNull();
  });

  it('goes red when a backoff has no jitter', async () => {
    expect(await firstRed(limits, () => fixture(() => 0))).not.toBeNull();
  });

  it.each(named(restartMutations))('goes red when %s', async (_, mutation) => {
    expect(await firstRedWith(mutation, mutation.noticedBy, () => new WalFixture())).not.toBeNull();
  });

  it.each(named(SEEN_BY_A_WALK))('goes red in a walk beside the model when %s', async (_, mutation) => {
    expect(await firstRedWith(mutation, walk)).not.toBeNull();
  });

  it('is green again when everything is mended', async () => {
    expect(await firstRed(SHORT.at(-1)!)).toBeNull();
  });
});
