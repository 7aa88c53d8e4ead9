import { describe, it } from '@jest/globals';
import { C_COMPILER, describeWith, DiskShim, KillRounds, seeded, ServiceFixture, SUITE_STORAGE } from './harness/index.js';

const ON_LOG = SUITE_STORAGE === 'wal';
const ROUNDS = Number(process.env.ORCHD_KILL9_ROUNDS ?? (ON_LOG ? 20 : 4));
const FEW_ROUNDS = 3;
const SLOW_ROUNDS = 2;
const ROUND_LIMIT_MS = 60_000;
/** The smallest makes segments begin, and the cleaner work, all the time. */
const SEGMENT_BYTES = [64 * 1024, 256 * 1024, 16 * 1024 * 1024];

const orchd = new ServiceFixture();

/** Kills services on one folder, each with another size of segment. */
async function killOften(rounds: number, flags: readonly string[] = [], env?: (dataDir: string) => NodeJS.ProcessEnv): Promise<void> {
  const dataDir = orchd.folder();
  await seeded(async (random) => {
    const launch = () =>
      orchd.launch({ dataDir, env: env?.(dataDir), flags: [...flags, '--wal-segment-bytes', String(random.pick(SEGMENT_BYTES))] });
    await new KillRounds({ random, launch }).run(rounds);
  });
}

describe('kill -9 at a random moment, 64 clients and 16 workers busy', () => {
  it(`loses nothing that was acknowledged or shown, ${ROUNDS} times on one folder`, () => killOften(ROUNDS), ROUNDS * ROUND_LIMIT_MS);

  const onLog = ON_LOG ? it.each(['interval', 'never']) : () => undefined;
  onLog(
    'loses nothing with --fsync %s either: the system has it',
    (mode) => killOften(FEW_ROUNDS, ['--fsync', mode]),
    FEW_ROUNDS * ROUND_LIMIT_MS,
  );
});

const describeOnLog = ON_LOG ? describeWith : () => undefined;
describeOnLog([C_COMPILER], 'kill -9 while every write is slow', () => {
  it.each(['always', 'never'])(
    'loses nothing with --fsync %s: nobody is told anything before it is written',
    async (mode) => {
      const shim = new DiskShim(orchd.folder());
      shim.slow({ writeUs: 10_000 });
      await killOften(SLOW_ROUNDS, ['--fsync', mode], (dataDir) => shim.env(dataDir));
    },
    SLOW_ROUNDS * ROUND_LIMIT_MS,
  );
});
