import { expect, it } from '@jest/globals';
import { C_COMPILER, cutPower, describeWith, DiskShim, KillRounds, seeded, ServiceFixture } from './harness/index.js';

const ROUNDS = 3;
const ROUND_LIMIT_MS = 60_000;
const SEGMENT_BYTES = [64 * 1024, 1024 * 1024];

const orchd = new ServiceFixture();

describeWith([C_COMPILER], 'a power cut at a random moment, every sync taking 10 ms', () => {
  it(
    `loses nothing that was acknowledged or shown, ${ROUNDS} times on one folder`,
    async () => {
      const dataDir = orchd.folder();
      const shim = new DiskShim(orchd.folder());
      shim.slow({ syncMs: 10 });
      await seeded(async (random) => {
        let lostSectors = 0;
        const launch = () =>
          orchd.launch({
            dataDir,
            env: shim.env(dataDir, { journal: true }),
            flags: ['--wal-segment-bytes', String(random.pick(SEGMENT_BYTES))],
          });
        const afterKill = () => (lostSectors += cutPower(dataDir, shim.journal(), random));
        await new KillRounds({ random, launch, afterKill }).run(ROUNDS);
        expect(lostSectors).toBeGreaterThan(0);
      });
    },
    ROUNDS * ROUND_LIMIT_MS,
  );
});
