import { parseArgs } from 'node:util';

const USAGE = 'flags: --quick (everything once, small)  --repeats N (default 5)  --only part[,part...]  --help';

/**
 * The flags that every benchmark has.
 *
 * @param parts what `--only` may name
 * @returns `{ quick, repeats, parts }`: `repeats` is 1 with `--quick`; a part that needs more or fewer says so itself
 */
export function readOptions(parts, argv = process.argv.slice(2)) {
  try {
    const { values } = parseArgs({
      args: argv,
      options: {
        quick: { type: 'boolean', default: false },
        repeats: { type: 'string' },
        only: { type: 'string' },
        help: { type: 'boolean' },
      },
    });
    if (values.help) {
      console.log(`${USAGE}\nparts: ${parts.join(', ')}`);
      process.exit(0);
    }
    const wanted = values.only?.split(',') ?? parts;
    const unknown = wanted.filter((part) => !parts.includes(part));
    if (unknown.length > 0) throw new Error(`no part ${unknown.join(', ')}; there are: ${parts.join(', ')}`);
    return { quick: values.quick, repeats: repeatsOf(values), parts: wanted };
  } catch (error) {
    console.error(`${error.message}\n${USAGE}`);
    process.exit(1);
  }
}

const DEFAULT_REPEATS = 5;

function repeatsOf({ repeats, quick }) {
  if (repeats === undefined) return quick ? 1 : DEFAULT_REPEATS;
  if (!/^[1-9]\d{0,2}$/.test(repeats)) throw new Error(`--repeats must be an integer 1..999, not ${repeats}`);
  return Number(repeats);
}
