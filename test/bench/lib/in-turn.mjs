/**
 * Measures each variant once per round, in turn, each round beginning with another one: what slows the machine down for a while slows all
 * of them.
 *
 * @param variants name -> function that measures it once
 * @returns name -> results, one per round
 */
export async function inTurn(rounds, variants, progress = () => {}) {
  const names = Object.keys(variants);
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(round + i) % names.length];
      progress(`${name}, ${round + 1} of ${rounds}`);
      results[name].push(await variants[name]());
    }
  }
  return results;
}
