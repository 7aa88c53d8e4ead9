import { ManualClock } from '../../../testing/manual-clock.js';
import type { OrchdError } from '../../../contract/errors.js';
import { segmentName } from './file-names.js';
import { MemoryDisk, type Inode, type PowerCut } from './memory-disk.fixture.js';
import { MemoryFileSystem, type Fault } from './memory-file-system.fixture.js';
import { WriteAheadLog, type LogOptions, type LogState, type Replay } from './write-ahead-log.js';

export const DIR = '/log';
/** As small as a segment can usefully be, so that a short test sees many. */
export const SEGMENT_BYTES = 4096;

export interface OpenedLog {
  log: WriteAheadLog;
  fs: MemoryFileSystem;
  clock: ManualClock;
  /** What the opening handed out. */
  records: string[];
  warnings: { message: string; details: object }[];
  states: { state: LogState; cause?: OrchdError }[];
}

export interface Surroundings {
  fault?: Fault;
  /** What a blocking sync takes on this disk. */
  syncMs?: number;
  replay?: Partial<Replay>;
}

/** A machine with one log folder; what happens to it is said in the verbs below. */
export class LogMachine {
  constructor(readonly disk = new MemoryDisk()) {}

  async open(options: Partial<LogOptions> = {}, { fault, syncMs, replay }: Surroundings = {}): Promise<OpenedLog> {
    const fs = new MemoryFileSystem(this.disk);
    if (fault) fs.fault = fault;
    if (syncMs !== undefined) fs.syncMs = syncMs;
    const clock = new ManualClock();
    const records: string[] = [];
    const warnings: OpenedLog['warnings'] = [];
    const states: OpenedLog['states'] = [];
    const log = await WriteAheadLog.open(
      {
        dir: DIR,
        fs,
        clock,
        fsync: 'always',
        segmentBytes: SEGMENT_BYTES,
        preamble: () => '',
        onStateChange: (state, cause) => states.push({ state, cause }),
        warn: (message, details) => warnings.push({ message, details }),
        ...options,
      },
      { records: (lines) => void records.push(...lines), ...replay },
    );
    return { log, fs, clock, records, warnings, states };
  }

  /** Opens, hands out, closes. */
  async reopen(options: Partial<LogOptions> = {}, surroundings: Surroundings = {}): Promise<OpenedLog> {
    const opened = await this.open(options, surroundings);
    await opened.log.close();
    return opened;
  }

  /** Appends every record on its own and waits until it is durable, then is killed, so that nothing more is written. */
  async writeAndKill(records: string[], options: Partial<LogOptions> = {}): Promise<void> {
    const { log } = await this.open(options);
    for (const record of records) await log.append(`${record}\n`).durable();
    this.disk.kill();
  }

  /** Names without the folder, sorted. */
  get files(): string[] {
    const paths = [...this.disk.names.keys()].filter((path) => path.startsWith(`${DIR}/`));
    return paths.map((path) => path.slice(DIR.length + 1)).sort();
  }

  get segments(): string[] {
    return this.files.filter((name) => name.endsWith('.log'));
  }

  bytesOf(name: string): Buffer {
    return this.#inode(name).cache;
  }

  bytesOfSegment(segment: number): Buffer {
    return this.bytesOf(segmentName(segment));
  }

  /** Puts other bytes into a file, on the disk and in the cache alike. */
  replace(name: string, bytes: Buffer): void {
    const inode = this.#inode(name);
    inode.cache = Buffer.from(bytes);
    inode.disk = Buffer.from(bytes);
  }

  damage(segment: number, change: (bytes: Buffer) => Buffer | void): void {
    const bytes = Buffer.from(this.bytesOfSegment(segment));
    this.replace(segmentName(segment), change(bytes) ?? bytes);
  }

  remove(name: string): void {
    this.disk.forget(`${DIR}/${name}`);
  }

  renameFile(from: string, to: string): void {
    const bytes = this.bytesOf(from);
    this.remove(from);
    this.disk.plant(`${DIR}/${to}`, bytes);
  }

  /** As on a network disk that forgot who holds it. */
  stealLock(): void {
    this.#inode('LOCK').locked = false;
  }

  /** The same machine once more, so that one history can end in many ways; its processes are dead. */
  copy(): LogMachine {
    const copy = new LogMachine(this.disk.clone());
    copy.disk.kill();
    return copy;
  }

  copyAfterPowerCut(survives?: PowerCut): LogMachine {
    const copy = new LogMachine(this.disk.clone());
    copy.disk.cutPower(survives);
    return copy;
  }

  #inode(name: string): Inode {
    const inode = this.disk.names.get(`${DIR}/${name}`);
    if (!inode) throw new Error(`There is no ${name}, only ${this.files.join(', ')}.`);
    return inode;
  }
}

/** `count` different records of at least `bytes` bytes. */
export function numbered(count: number, bytes = 100, prefix = 'record'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix} ${index} `.padEnd(bytes, '.'));
}

/** The event loop turned so often that everything that can happen without time or gates has happened. */
export async function settled(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
}

/** Holds back all syncs of files; `release` lets those under way end. */
export function holdSyncs(fs: MemoryFileSystem) {
  const waiting: (() => void)[] = [];
  fs.gate = () => new Promise((resolve) => waiting.push(resolve));
  return {
    underWay: () => waiting.length,
    release: async () => {
      for (const resolve of waiting.splice(0)) resolve();
      await settled();
    },
    end: async () => {
      fs.gate = undefined;
      for (const resolve of waiting.splice(0)) resolve();
      await settled();
    },
  };
}

/** A small seeded generator (mulberry32), 0..1. Print the seed where a test fails. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Runs a case for a seed and names the seed in what it throws. */
export async function withSeed(seed: number, run: (random: () => number) => Promise<void>): Promise<void> {
  try {
    await run(seededRandom(seed));
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** The code that a promise rejects with; undefined when it resolves. */
export function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  return promise.then(
    () => undefined,
    (error: OrchdError) => error.code,
  );
}
