import { parseArgs } from 'node:util';

export type WalArguments =
  | { readonly kind: 'verify'; readonly dir: string }
  | { readonly kind: 'dump'; readonly dir: string }
  | { readonly kind: 'salvage'; readonly dir: string; readonly to: string }
  | { readonly kind: 'help' }
  /** One line each, to be shown all at once. */
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

const COMMANDS = ['verify', 'dump', 'salvage'] as const;
type Command = (typeof COMMANDS)[number];

const OPTIONS = { to: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;

export const WAL_HELP = `Usage: orchd wal verify DIR
       orchd wal dump DIR
       orchd wal salvage DIR --to NEW_DIR

Looks at the write-ahead log in DIR (the --data-dir of an orchd that is stopped). Nothing in DIR is
changed, and no orchd can start on it meanwhile.

  verify    says what the next start would say: whole, a torn tail (which a start cuts by itself),
            or damaged, with file, offset and reason
  dump      prints every record that is whole as one line of JSON, with its segment, the offset of
            its batch and its number; places that hold none are told on stderr
  salvage   copies every record that is whole into a new log in NEW_DIR, and lists what was lost;
            NEW_DIR may also be given without --to

Exit codes: 0 done, of verify: whole or a torn tail; 65 damaged (verify), or the new log cannot be
opened by this orchd (salvage); 74 DIR cannot be read or NEW_DIR not written; 75 an orchd is running
on it; 78 bad arguments, DIR is not there or holds no log, NEW_DIR holds one.
`;

/** `orchd wal ...`, without these two words. Looks at nothing but its arguments. */
export function readWalArguments(argv: readonly string[]): WalArguments {
  const { words, to, help, problems } = readTokens(argv);
  if (help) return { kind: 'help' };
  const [command, dir, ...more] = words;
  if (!isCommand(command)) return { kind: 'problems', problems: [...problems, whichCommand(command)] };
  // The short form, as the refusal of a damaged log prints it.
  const target = to ?? (command === 'salvage' ? more.shift() : undefined);
  if (!dir) problems.push(`${command}: DIR is missing`);
  if (command === 'salvage' && !target) problems.push('salvage: --to NEW_DIR is missing');
  if (command !== 'salvage' && to !== undefined) problems.push(`${command}: --to is for salvage only`);
  for (const word of more) problems.push(`${command}: ${JSON.stringify(word)} is one argument too many`);
  if (problems.length > 0 || !dir) return { kind: 'problems', problems };
  return command === 'salvage' ? { kind: command, dir, to: target ?? '' } : { kind: command, dir };
}

function readTokens(argv: readonly string[]): { words: string[]; to: string | undefined; help: boolean; problems: string[] } {
  const { tokens } = parseArgs({ args: [...argv], options: OPTIONS, strict: false, allowPositionals: true, tokens: true });
  const words: string[] = [];
  const problems: string[] = [];
  let to: string | undefined;
  let help = false;
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    if (token.name === 'help') help = true;
    else if (token.name === 'to') to = token.value ?? '';
    else problems.push(`${token.rawName}: unknown flag`);
  }
  return { words, to, help, problems };
}

function isCommand(word: string | undefined): word is Command {
  return COMMANDS.some((command) => command === word);
}

function whichCommand(word: string | undefined): string {
  const allowed = `${COMMANDS.slice(0, -1).join(', ')} or ${COMMANDS.at(-1)!}`;
  return word === undefined ? `say which: ${allowed}` : `${JSON.stringify(word)} is none of ${allowed}`;
}
