import { parseArgs } from 'node:util';

/** One face of the service. Several targets are faces of one shared queue. */
export interface Target {
  readonly origin: string;
  /** What stands before `/jobs` and `/stats`: empty, or a path without a slash at its end. */
  readonly prefix: string;
}

export interface Options {
  readonly targets: readonly Target[];
  readonly jobs: number;
  readonly workMs: number;
  readonly failProb: number;
  readonly hangProb: number;
  readonly clients: number;
  readonly label: string;
  readonly timeoutMs: number;
  readonly ledgerFile: string | undefined;
}

export type ParsedOptions =
  | { readonly kind: 'run'; readonly options: Options }
  | { readonly kind: 'help' }
  | { readonly kind: 'bad'; readonly problems: readonly string[] };

interface NumberFlag {
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
  readonly integer?: true;
}

const NUMBER_FLAGS = {
  jobs: { fallback: 2000, min: 1, max: 10_000_000, integer: true },
  'work-ms': { fallback: 20, min: 0, max: 86_400_000 },
  'fail-prob': { fallback: 0, min: 0, max: 1 },
  'hang-prob': { fallback: 0, min: 0, max: 1 },
  clients: { fallback: 32, min: 1, max: 4096, integer: true },
  'timeout-s': { fallback: 60, min: 0.001, max: 86_400 },
} as const satisfies Record<string, NumberFlag>;

type NumberName = keyof typeof NUMBER_FLAGS;

const TEXT_FLAGS = ['url', 'label', 'ledger'] as const;
type FlagName = NumberName | (typeof TEXT_FLAGS)[number];

const VALUE_FLAGS: ReadonlySet<string> = new Set([...Object.keys(NUMBER_FLAGS), ...TEXT_FLAGS]);
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

export const USAGE = `usage: loadgen --url URL [--url URL ...] [flags]

  --url URL          address of an orchd; repeat it for several faces of one shared queue
  --jobs N           jobs to submit (2000)
  --work-ms MS       length of the simulated work (20)
  --fail-prob P      probability that an attempt fails, 0..1 (0)
  --hang-prob P      probability that an attempt hangs, 0..1 (0)
  --clients N        submits in flight, one connection each (32)
  --label TEXT       copied into the result line (loadgen)
  --timeout-s S      give up after this many seconds (60)
  --ledger FILE      append every event of every job as JSON lines

exit: 0 every id final, 1 an id lost or undone or a submit refused, 2 time-out or
interrupt with nothing lost, 70 loadgen itself failed, 78 bad flag
`;

/** Reads the flags. Bad ones are not thrown one by one: all problems come back together, each naming its flag. */
export function parseOptions(argv: readonly string[]): ParsedOptions {
  const given = readFlags(argv);
  if (given.help) return { kind: 'help' };
  const problems = [...given.problems];
  const number = (name: NumberName): number => readNumber(name, given.values.get(name)?.at(-1), problems);

  const options: Options = {
    targets: readTargets(given.values.get('url') ?? [], problems),
    jobs: number('jobs'),
    workMs: number('work-ms'),
    failProb: number('fail-prob'),
    hangProb: number('hang-prob'),
    clients: number('clients'),
    label: given.values.get('label')?.at(-1) ?? 'loadgen',
    timeoutMs: number('timeout-s') * 1000,
    ledgerFile: given.values.get('ledger')?.at(-1),
  };
  if (options.ledgerFile === '') problems.push('--ledger needs the name of a file');
  return problems.length > 0 ? { kind: 'bad', problems } : { kind: 'run', options };
}

interface GivenFlags {
  readonly values: ReadonlyMap<FlagName, readonly string[]>;
  readonly problems: readonly string[];
  readonly help: boolean;
}

function readFlags(argv: readonly string[]): GivenFlags {
  const values = new Map<FlagName, string[]>();
  const problems: string[] = [];
  const options = Object.fromEntries([...VALUE_FLAGS].map((name) => [name, { type: 'string' as const }]));
  // Not strict: strict stops at the first problem.
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true });
  let help = false;
  // The value of an unknown flag looks like a stray argument; naming the flag is enough.
  let afterUnknown = false;

  for (const token of tokens) {
    if (token.kind === 'positional' && !afterUnknown) problems.push(`unexpected argument "${token.value}"`);
    afterUnknown = false;
    if (token.kind !== 'option') continue;
    if (token.name === 'help') help = true;
    else if (!isFlag(token.name)) {
      problems.push(`${token.rawName} is not a flag`);
      afterUnknown = true;
    } else if (token.value === undefined || (!token.inlineValue && token.value.startsWith('--'))) {
      problems.push(`--${token.name} needs a value`);
      afterUnknown = true;
    } else values.set(token.name, [...(values.get(token.name) ?? []), token.value]);
  }
  return { values, problems, help };
}

function isFlag(name: string): name is FlagName {
  return VALUE_FLAGS.has(name);
}

function readNumber(name: NumberName, text: string | undefined, problems: string[]): number {
  const flag: NumberFlag = NUMBER_FLAGS[name];
  if (text === undefined) return flag.fallback;
  const value = DECIMAL.test(text) ? Number(text) : NaN;
  const fits = value >= flag.min && value <= flag.max && (!flag.integer || Number.isInteger(value));
  if (!fits) {
    const kind = flag.integer ? 'an integer' : 'a number';
    problems.push(`--${name} must be ${kind} from ${flag.min} to ${flag.max}, not "${text}"`);
  }
  return value;
}

function readTargets(urls: readonly string[], problems: string[]): Target[] {
  if (urls.length === 0) problems.push('--url is needed at least once');
  return urls.flatMap((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
      problems.push(`--url must be an http or https address without user, query and fragment, not "${text}"`);
      return [];
    }
    return [{ origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') }];
  });
}
