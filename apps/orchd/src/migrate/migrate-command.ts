import { migrate, OrchdError, type MigrationReport } from '@orchd/storage/migration';
import { EXIT, exitCodeOf, type ExitCode } from '../life-cycle/exit-codes.js';
import { MIGRATE_HELP, readMigrateArguments } from './migrate-arguments.js';

/** The summary goes to stdout; progress and what went wrong to stderr. */
interface Output {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}

const PROGRESS_MS = 1000;
const NAMED = 10;

/** `orchd migrate ...`, without these two words. Resolves with the exit code. */
export async function migrateCommand(argv: readonly string[], { stdout, stderr }: Output): Promise<ExitCode> {
  const tell = (line: string): void => void stderr.write(`orchd: ${line}\n`);
  const command = readMigrateArguments(argv);
  if (command.kind === 'help') {
    stdout.write(MIGRATE_HELP);
    return EXIT.done;
  }
  if (command.kind === 'problems') {
    for (const problem of command.problems) tell(`migrate: ${problem} (see orchd migrate --help)`);
    return EXIT.badSetting;
  }
  const { from, to, force } = command;
  try {
    const report = await migrate({ from, to, force, onProgress: progress(tell), warn: (message) => tell(message) });
    stdout.write(`${summary(from, report)}\n`);
    if (report.taken.length === 0) return EXIT.done;
    tell(`${named(report.taken)}: the target has other jobs with their id or dedupe key; they were left in ${from}`);
    return EXIT.badSetting;
  } catch (error) {
    if (!(error instanceof OrchdError)) throw error;
    tell(error.message);
    return exitCodeOf(error.code);
  }
}

/** Once a second, so that a short move is silent and a long one is not a riddle. */
function progress(tell: (line: string) => void): (done: number, total: number) => void {
  let toldAt = performance.now();
  return (done, total) => {
    const now = performance.now();
    if (now - toldAt < PROGRESS_MS) return;
    toldAt = now;
    tell(`${done} of ${total} jobs`);
  };
}

export function summary(from: string, { to, durability, total, imported, present, taken }: MigrationReport): string {
  const left = taken.length === 0 ? '' : `, ${taken.length} not moved`;
  return `wal:${from} -> ${to}: ${total} jobs, ${imported} moved, ${present} there already${left}; durability ${durability}`;
}

export function named(ids: readonly string[]): string {
  const rest = ids.length - NAMED;
  return `${ids.slice(0, NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
