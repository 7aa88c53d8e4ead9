import type { StorageSettings } from '@orchd/storage/migration';
import { parseArgs } from 'node:util';

export type MigrateArguments =
  | { readonly kind: 'migrate'; readonly from: string; readonly to: StorageSettings; readonly force: boolean }
  | { readonly kind: 'help' }
  /** One line each, to be shown all at once. */
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

const OPTIONS = {
  from: { type: 'string' },
  to: { type: 'string' },
  'redis-prefix': { type: 'string' },
  force: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;
type Name = keyof typeof OPTIONS;

export const MIGRATE_HELP = `Usage: orchd migrate --from wal:DIR --to redis:URL [--redis-prefix NAME]
       orchd migrate --from wal:DIR --to wal:NEW_DIR

Moves all jobs of a log, the --data-dir of an orchd that is stopped, to another storage. They keep
id, dedupe key, state, epoch, priority, queue, counters, due time, created_at, progress, result and
error; those that ran when orchd ended are requeued, as at any start.

The jobs in DIR stay, and DIR gets a file MIGRATED, before the first of them is moved: orchd does
not start on it any more, unless with --force. Run the same command again after an interruption: it
moves what is missing and changes nothing else. Others may work on the target meanwhile.

  --to redis:URL       redis://[user:password@]host[:port][/db] and so on, as for --redis-url;
                       redis: alone takes ORCHD_REDIS_URL, which no list of processes shows
  --redis-prefix NAME  begin of every key; default ORCHD_REDIS_PREFIX, else orchd
  --force              also when DIR is marked as moved to another place

Exit codes: 0 all jobs are in the target; 65 the log is damaged; 74 one of the two cannot be used,
or the target is full; 75 an orchd has one of the folders; 78 bad arguments, DIR holds no log or is
marked as moved elsewhere, or the target has other jobs with the same id or dedupe key (they are
named, all others are moved).
`;

/** `orchd migrate ...`, without these two words. Looks at nothing but its arguments. */
export function readMigrateArguments(argv: readonly string[]): MigrateArguments {
  const { given, problems } = readTokens(argv);
  if (given.has('help')) return { kind: 'help' };
  const from = readFrom(given.get('from'), problems);
  const to = readTo(given.get('to'), problems);
  const redisPrefix = given.get('redis-prefix');
  if (redisPrefix !== undefined && to?.storage === 'wal') problems.push('--redis-prefix is for --to redis: only');
  if (problems.length > 0 || from === undefined || to === undefined) return { kind: 'problems', problems };
  return { kind: 'migrate', from, to: redisPrefix === undefined ? to : { ...to, redisPrefix }, force: given.has('force') };
}

function readFrom(text: string | undefined, problems: string[]): string | undefined {
  if (!text) problems.push('--from wal:DIR is missing');
  else if (text.startsWith('redis')) problems.push('--from: jobs are moved out of a log only: who else works on a Redis, nobody knows');
  else if (text === 'wal:' || !text.startsWith('wal:')) problems.push(`--from must be wal:DIR, not ${JSON.stringify(text)}`);
  else return text.slice('wal:'.length);
  return undefined;
}

/** A URL may hold a password: no message repeats it. */
function readTo(text: string | undefined, problems: string[]): StorageSettings | undefined {
  if (!text) problems.push('--to redis:URL or wal:NEW_DIR is missing');
  else if (text === 'redis:' || text === 'redis') return { storage: 'redis' };
  else if (/^rediss?(\+sentinel)?:\/\//.test(text)) return { storage: 'redis', redisUrl: text };
  else if (text.startsWith('redis:')) return { storage: 'redis', redisUrl: text.slice('redis:'.length) };
  else if (text.startsWith('wal:') && text !== 'wal:') return { storage: 'wal', dataDir: text.slice('wal:'.length) };
  else if (/^memory\b/.test(text)) problems.push('--to memory: it would end with this command');
  else problems.push('--to must be redis:URL or wal:NEW_DIR');
  return undefined;
}

function readTokens(argv: readonly string[]): { given: Map<Name, string>; problems: string[] } {
  const { tokens } = parseArgs({ args: [...argv], options: OPTIONS, strict: false, allowPositionals: true, tokens: true });
  const given = new Map<Name, string>();
  const problems: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') problems.push('there is an argument without a flag');
    if (token.kind !== 'option') continue;
    if (given.has(token.name as Name)) problems.push(`${token.rawName} is given twice`);
    if (Object.hasOwn(OPTIONS, token.name)) given.set(token.name as Name, token.value ?? '');
    else problems.push(`${token.rawName}: unknown flag`);
  }
  return { given, problems };
}
