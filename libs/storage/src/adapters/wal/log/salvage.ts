import type { Clock } from '../../../contract/clock.js';
import { InvalidArgumentError } from '../../../contract/errors.js';
import { unavailable } from './damage.js';
import { segmentName, sortFolder } from './file-names.js';
import { errorCode, type FileSystem } from './file-system.js';
import { findingsOf, segmentsOf, type Finding } from './inspection.js';
import { readHeader } from './segment-reader.js';
import { WriteAheadLog } from './write-ahead-log.js';

export interface SalvageOptions {
  fs: FileSystem;
  clock: Clock;
  from: string;
  /** A folder that does not exist, or holds no log. */
  to: string;
  segmentBytes: number;
}

export interface Loss {
  file: string;
  offset: number;
  /** 0 where the bytes are not there at all: a missing file, a cut one. */
  bytes: number;
  /** Number of the first record that is lost; undefined where nothing tells. */
  record?: number;
  /** How many are, 0 for damage that hit no record; undefined at the end of the log, where nothing says how many there were. */
  count?: number;
}

export interface SalvageReport {
  records: number;
  lost: Loss[];
}

/**
 * Copies every whole record of a log, past any damage, into a new log, and lists what was lost. Changes nothing in `from`. The new log's
 * epochs are above all that the old one can have handed out. When it resolves the new log is durable and closed.
 */
export async function salvageLog({ fs, clock, from, to, segmentBytes }: SalvageOptions): Promise<SalvageReport> {
  await assertNoLog(fs, to);
  const log = await WriteAheadLog.open(
    {
      dir: to,
      fs,
      clock,
      segmentBytes,
      fsync: 'interval',
      lastEpochFloor: await highestFloor(fs, from),
      preamble: () => '',
      onStateChange: () => undefined,
      warn: () => undefined,
    },
    { records: () => undefined },
  );
  try {
    return await copyInto(log, fs, from);
  } finally {
    await log.close();
  }
}

async function copyInto(log: WriteAheadLog, fs: FileSystem, from: string): Promise<SalvageReport> {
  const losses = await lossesOf(fs, from);
  let records = 0;
  for await (const finding of findingsOf(fs, from)) {
    losses.look(finding);
    if (finding.kind === 'bad' || finding.lines.length === 0) continue;
    records += finding.lines.length;
    // Waiting for each write keeps no more than one batch in memory; `enqueue`, so that a full disk is an error and not a wait.
    await log.append(`${finding.lines.join('\n')}\n`, 'enqueue').written();
  }
  return { records, lost: losses.all() };
}

async function lossesOf(fs: FileSystem, dir: string): Promise<Losses> {
  const [oldest] = await segmentsOf(fs, dir);
  if (oldest === undefined) return new Losses(1, 1);
  const header = await readHeader(fs, dir, oldest);
  return new Losses(oldest, typeof header === 'string' ? undefined : header.firstRecord);
}

/** What is missing, as the numbers of the records around it tell. */
class Losses {
  readonly #found: Loss[] = [];
  /** Of bad bytes since the last whole batch. */
  #open: Loss[] = [];
  #nextRecord: number | undefined;
  #cleaned = 0;

  /** @param firstRecord the first one of the oldest segment; unknown where its header is damaged, but for the first segment of all */
  constructor(
    private readonly oldest: number,
    private readonly firstRecord = oldest === 1 ? 1 : undefined,
  ) {
    this.#nextRecord = firstRecord;
  }

  /** Once everything has been looked at, for a later batch tells which segments had been deleted in good order. */
  all(): Loss[] {
    if (this.oldest <= this.#cleaned + 1) return this.#found;
    const missing = { file: segmentName(this.#cleaned + 1), offset: 0, bytes: 0 };
    if (this.#cleaned > 0 || this.firstRecord === undefined) return [missing, ...this.#found];
    return [{ ...missing, record: 1, count: this.firstRecord - 1 }, ...this.#found];
  }

  look(finding: Finding): void {
    const { file, offset } = finding;
    if (finding.kind === 'bad') {
      this.#note({ file, offset, bytes: finding.bytes, record: this.#nextRecord });
      return;
    }
    this.#cleaned = Math.max(this.#cleaned, finding.cleaned ?? 0);
    const { first, count } = finding.batch;
    const missing = this.#nextRecord === undefined ? undefined : first - this.#nextRecord;
    if (missing !== undefined && missing > 0 && this.#open.length === 0) this.#note({ file, offset, bytes: 0, record: first - missing });
    // Where several places lie between two whole batches, the first stands for all their records.
    if (missing !== undefined) for (const [index, loss] of this.#open.entries()) loss.count = index === 0 ? missing : 0;
    this.#open = [];
    this.#nextRecord = first + count;
  }

  #note(loss: Loss): void {
    this.#found.push(loss);
    this.#open.push(loss);
  }
}

async function highestFloor(fs: FileSystem, dir: string): Promise<number> {
  const floors = [0];
  for (const segment of await segmentsOf(fs, dir)) {
    const header = await readHeader(fs, dir, segment);
    if (typeof header !== 'string') floors.push(header.epochFloor);
  }
  return Math.max(...floors);
}

async function assertNoLog(fs: FileSystem, dir: string): Promise<void> {
  const names = await fs.list(dir).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw unavailable(`Cannot read ${dir}`, error);
  });
  if (sortFolder(names).segments.length > 0) throw new InvalidArgumentError('to', `${dir} holds a log already`);
}
