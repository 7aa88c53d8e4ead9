import { dump, OrchdError, salvage, verify } from '@orchd/storage/wal-tools';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EXIT, exitCodeOf, type ExitCode } from '../life-cycle/exit-codes.js';
import { readWalArguments, WAL_HELP } from './wal-arguments.js';
import { badPlaceLine, lossLine, recordLines, salvageCommand, verdictLine } from './wal-report.js';

/** Answers go to stdout, what went wrong to stderr. */
interface Output {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}

/** `orchd wal ...`, without these two words. Resolves with the exit code when all is written. */
export async function walCommand(argv: readonly string[], output: Output): Promise<ExitCode> {
  const command = readWalArguments(argv);
  try {
    switch (command.kind) {
      case 'help':
        await write([WAL_HELP], output);
        return EXIT.done;
      case 'problems':
        for (const problem of command.problems) complain(`wal: ${problem} (see orchd wal --help)`, output);
        return EXIT.badSetting;
      case 'verify':
        return await verifyLog(command.dir, output);
      case 'dump':
        await write(dumped(command.dir, output), output);
        return EXIT.done;
      case 'salvage':
        return await salvageLog(command.dir, command.to, output);
    }
  } catch (error) {
    return refused(error, output);
  }
}

async function verifyLog(dir: string, output: Output): Promise<ExitCode> {
  const verdict = await verify(dir);
  await write([`${verdictLine(dir, verdict)}\n`], output);
  if (verdict.verdict !== 'damaged') return EXIT.done;
  await write([`What is whole can be copied into a new folder: ${salvageCommand(dir)}\n`], output);
  return EXIT.damagedLog;
}

async function* dumped(dir: string, output: Output): AsyncGenerator<string> {
  for await (const finding of dump(dir)) {
    if (finding.kind === 'bad') complain(badPlaceLine(finding), output);
    else yield recordLines(finding);
  }
}

async function salvageLog(dir: string, to: string, output: Output): Promise<ExitCode> {
  const { before, lost, after } = await salvage(dir, to);
  await write(
    [verdictLine(dir, before), ...lost.map(lossLine), verdictLine(to, after)].map((line) => `${line}\n`),
    output,
  );
  return after.verdict === 'damaged' ? EXIT.damagedLog : EXIT.done;
}

/** Waits for a slow reader, so that a dump of any length takes the memory of one segment. */
async function write(text: Iterable<string> | AsyncIterable<string>, { stdout }: Output): Promise<void> {
  await pipeline(Readable.from(text), stdout, { end: false });
}

function complain(problem: string, { stderr }: Output): void {
  stderr.write(`orchd: ${problem}\n`);
}

function refused(error: unknown, output: Output): ExitCode {
  if (error instanceof OrchdError) {
    complain(error.message, output);
    return exitCodeOf(error.code);
  }
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (syscall !== 'write') throw error;
  // A reader that has seen enough (`orchd wal dump DIR | head`) is no failure.
  if (code === 'EPIPE') return EXIT.done;
  complain(`cannot write: ${message}`, output);
  return EXIT.storageFailed;
}
