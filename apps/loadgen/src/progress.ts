import cliProgress from 'cli-progress';
import type { World } from './world.js';

export interface Progress {
  /** Cheap enough to be called for every /stats answer. `finished` is missing while no target answers. */
  update(submitted: number, finished: number | undefined): void;
  /** Leaves the terminal as it was; a second call does nothing. */
  stop(): void;
}

/** Where the progress goes; `process.stderr` is one. */
export interface ProgressStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
}

const FIRST_LINE_MS = 2_000;
const LINE_EVERY_MS = 5_000;

/** A bar on a terminal; elsewhere a line now and then, and none for a run that is over within two seconds. */
export function createProgress(stream: ProgressStream, jobs: number, world: World): Progress {
  return stream.isTTY ? new ProgressBar(stream, jobs) : new ProgressLines(stream, jobs, world);
}

class ProgressBar implements Progress {
  private readonly bar: cliProgress.SingleBar;

  constructor(stream: ProgressStream, jobs: number) {
    this.bar = new cliProgress.SingleBar(
      {
        stream,
        format: '{bar} {value}/{total} finished | {submitted} submitted | {duration_formatted}{note}',
        hideCursor: true,
        gracefulExit: false,
      },
      cliProgress.Presets.shades_classic,
    );
    this.bar.start(jobs, 0, { submitted: 0, note: '' });
  }

  update(submitted: number, finished: number | undefined): void {
    if (finished === undefined) this.bar.update({ submitted, note: ' | no answer' });
    else this.bar.update(finished, { submitted, note: '' });
  }

  stop(): void {
    if (this.bar.isActive) this.bar.stop();
  }
}

class ProgressLines implements Progress {
  private nextAt: number;

  constructor(
    private readonly stream: ProgressStream,
    private readonly jobs: number,
    private readonly world: World,
  ) {
    this.nextAt = world.now() + FIRST_LINE_MS;
  }

  update(submitted: number, finished: number | undefined): void {
    const now = this.world.now();
    if (now < this.nextAt) return;
    this.nextAt = now + LINE_EVERY_MS;
    const rest = finished === undefined ? 'no answer' : `${finished} finished`;
    this.stream.write(`loadgen: ${submitted}/${this.jobs} submitted, ${rest}\n`);
  }

  stop(): void {
    // Every line is complete as it stands.
  }
}
