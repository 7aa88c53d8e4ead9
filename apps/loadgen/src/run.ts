import { randomUUID } from 'node:crypto';
import { isNativeError } from 'node:util/types';
import type { Refusal } from './answer.js';
import { auditAll, type Audit } from './audit.js';
import { DrainWatch, type View } from './drain-watch.js';
import { openLedgerFile, type LedgerFile } from './ledger-file.js';
import { Ledger } from './ledger.js';
import { parseOptions, USAGE, type Options } from './options.js';
import { createProgress, type Progress, type ProgressStream } from './progress.js';
import { EXIT, exitCode, remarks, resultLine, type Ending } from './report.js';
import { submitAll } from './submitter.js';
import { sharedController, type World } from './world.js';

/** Everything of the process that a run touches. */
export interface Surroundings {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: ProgressStream;
  /** Aborted when the user wants the result as it is. */
  readonly interrupt: AbortSignal;
  readonly world: World;
}

const OBSERVE_EVERY_MS = 500;
const DRAIN_EVERY_MS = 5;

/** One run from flags to exit code: the result line is on stdout, everything else on stderr. */
export async function run(argv: readonly string[], around: Surroundings): Promise<number> {
  const parsed = parseOptions(argv);
  if (parsed.kind === 'help') {
    around.stdout.write(USAGE);
    return EXIT.ok;
  }
  if (parsed.kind === 'bad') return refuseFlags(parsed.problems, around);
  const { options } = parsed;
  let file: LedgerFile | undefined;
  try {
    if (options.ledgerFile !== undefined) file = openLedgerFile(options.ledgerFile, around.world.wallClock);
  } catch (error) {
    return refuseFlags([`--ledger cannot be opened: ${isNativeError(error) ? error.message : String(error)}`], around);
  }
  try {
    return await new LoadRun(options, new Ledger(options.jobs, randomUUID(), file?.append), around).run();
  } finally {
    file?.close();
  }
}

function refuseFlags(problems: readonly string[], { stderr }: Surroundings): number {
  for (const problem of problems) stderr.write(`loadgen: ${problem}\n`);
  return EXIT.badFlag;
}

/** Submit, wait until the queue is empty, audit, report. */
class LoadRun {
  private readonly stop = sharedController();
  private readonly watch: DrainWatch;
  private readonly progress: Progress;
  private readonly startedAt: number;

  constructor(
    private readonly options: Options,
    private readonly ledger: Ledger,
    private readonly around: Surroundings,
  ) {
    const { world, stderr } = around;
    this.watch = new DrainWatch(options.targets, world, this.stop.signal);
    this.progress = createProgress(stderr, options.jobs, world);
    this.startedAt = world.now();
  }

  async run(): Promise<number> {
    const { options, ledger } = this;
    const { interrupt, stdout, stderr } = this.around;
    const timeout = setTimeout(() => this.stop.abort('time-out'), options.timeoutMs);
    const onInterrupt = (): void => this.stop.abort('interrupted');
    interrupt.addEventListener('abort', onInterrupt, { once: true });
    try {
      const refusal = await this.submit();
      const submitMs = this.elapsedMs();
      const { audit, ending, totalMs } = await this.drainAndAudit();
      this.progress.stop();
      const outcome = { options, ledger, audit, ending, refusal, submitMs, totalMs };
      for (const remark of remarks(outcome)) stderr.write(`loadgen: ${remark}\n`);
      stdout.write(`${resultLine(outcome)}\n`);
      return exitCode(outcome);
    } finally {
      clearTimeout(timeout);
      interrupt.removeEventListener('abort', onInterrupt);
      this.progress.stop();
      this.watch.close();
    }
  }

  private async submit(): Promise<Refusal | undefined> {
    const { options, ledger, stop } = this;
    const submitted = sharedController();
    const observing = this.observe(submitted.signal);
    try {
      return await submitAll({ options, ledger, stop, world: this.around.world });
    } finally {
      submitted.abort();
      await observing;
    }
  }

  /** Feeds the progress while the submits go on; its counts decide nothing. */
  private async observe(signal: AbortSignal): Promise<void> {
    await this.watch.watch({
      everyMs: OBSERVE_EVERY_MS,
      signal,
      until: () => false,
      onView: (view) => this.show(view),
    });
  }

  /**
   * The clock stops with the first empty view. Where a target was silent in that view, or the service was not there
   * for a while during the audit, a job that is not final proves nothing: a restart may have brought it back. The drain
   * then begins anew, and the clock goes on.
   */
  private async drainAndAudit(): Promise<{ audit: Audit; ending: Ending; totalMs: number }> {
    for (;;) {
      const empty = await this.untilEmpty();
      const ending: Ending = empty ? 'drained' : (this.stop.signal.reason as Ending);
      const totalMs = empty ? empty.at - this.startedAt : this.elapsedMs();
      const audit = await this.audit();
      const inDoubt = empty !== undefined && (empty.silent > 0 || audit.broken) && audit.unfinished.length > 0;
      if (!inDoubt || audit.lost.length > 0 || audit.undone.length > 0) return { audit, ending, totalMs };
    }
  }

  private untilEmpty(): Promise<View | undefined> {
    return this.watch.watch({
      everyMs: DRAIN_EVERY_MS,
      signal: this.stop.signal,
      until: (view) => view.empty,
      onView: (view) => this.show(view),
    });
  }

  private audit(): Promise<Audit> {
    const { options, ledger, startedAt } = this;
    const { world, interrupt } = this.around;
    return auditAll({ options, ledger, world, interrupt, deadlineAt: startedAt + options.timeoutMs });
  }

  private show(view: View): void {
    const submitted = this.ledger.acked;
    const finished = view.outstanding === undefined ? undefined : Math.max(0, submitted - view.outstanding);
    this.progress.update(submitted, finished);
  }

  private elapsedMs(): number {
    return this.around.world.now() - this.startedAt;
  }
}
