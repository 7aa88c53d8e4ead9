import { createHash, hash } from 'node:crypto';
import { Sha256Chain } from '../../../apps/orchd/dist/app/handlers/cpu/sha256-chain.js';
import { withInterval } from '../lib/format.mjs';
import { inTurn } from '../lib/in-turn.mjs';
import { mean } from '../lib/statistics.mjs';
import { opensslRate } from './openssl.mjs';

const SLICE = 2000;
const ROUND_MS = 1000;

/** Ways of Node to hash 32 bytes again and again. */
export async function ways({ repeats, quick, progress }) {
  const roundMs = quick ? ROUND_MS / 4 : ROUND_MS;
  const chain = new Sha256Chain();
  chain.begin('orchd');
  let digest = Buffer.alloc(32);
  const variants = {
    'openssl speed': () => opensslRate(quick ? 1 : 3),
    'the cpu job (WebAssembly)': () => rate(roundMs, () => chain.advance(SLICE)),
    'crypto.createHash': () =>
      rate(roundMs, () => {
        for (let i = 0; i < SLICE; i++) digest = createHash('sha256').update(digest).digest();
      }),
    ...(hash && {
      'crypto.hash': () =>
        rate(roundMs, () => {
          for (let i = 0; i < SLICE; i++) digest = hash('sha256', digest, 'buffer');
        }),
    }),
  };
  await inTurn(1, variants);
  const runs = await inTurn(repeats, variants, (what) => progress(`ways, ${what}`));
  const [openssl] = Object.keys(variants);
  return {
    title: 'Ways to hash',
    about:
      'SHA-256 of 32 bytes, each digest the input of the next, one thread. The calls of node:crypto cost more than the hashing; so does a WebAssembly ' +
      'library that is called once per digest. The `cpu` job writes the whole loop in WebAssembly: one call per 2,000 rounds, no allocation.',
    columns: ['way', 'runs', 'thousand rounds/s', 'of openssl'],
    rows: Object.entries(runs).map(([name, rates]) => [
      name,
      repeats,
      withInterval(
        rates.map((value) => value / 1000),
        0,
      ),
      withInterval(
        rates.map((value, i) => value / runs[openssl][i]),
        3,
      ),
    ]),
    targets: [],
    runs: Object.fromEntries(Object.entries(runs).map(([name, rates]) => [name, { mean: mean(rates), rates }])),
  };
}

function rate(ms, slice) {
  const start = performance.now();
  let rounds = 0;
  while (performance.now() - start < ms) {
    slice();
    rounds += SLICE;
  }
  return (rounds * 1000) / (performance.now() - start);
}
