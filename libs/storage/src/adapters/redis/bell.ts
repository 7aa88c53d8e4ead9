import type { Clock, Lease } from '../../contract/index.js';
import type { LaneEnds } from './claim-desk.js';
import type { KeyNames } from './key-names.js';
import type { Link } from './link/link.js';
import type { Session } from './link/session.js';

export interface BellOptions {
  /** A connection of its own: XREAD blocks it. */
  readonly link: Link;
  /** For what cannot be said on a blocked connection. */
  readonly commands: Link;
  readonly names: KeyNames;
  readonly clock: Clock;
  readonly ring: (queue: string) => void;
  readonly ringAll: () => void;
  readonly cancelRequested: (lease: Lease) => void;
}

/** One look at the streams; then the next one, so that a connection that died silently is found out. */
const BLOCK_MS = 1000;
/** Where a blocked connection cannot be called back (CLIENT UNBLOCK forbidden), it comes back by itself so often. */
const SHORT_BLOCK_MS = 100;
/** Claims that were woken ask again and find nothing within this time, or they have found something. */
const AFTER_RING_MS = 5;
/** How often, and for how long, a look is called back that has not arrived at Redis yet. */
const POKES = { count: 10, pauseMs: 2 };
/** Entries of a stream that one look brings along. */
const COUNT = 16;

type Entries = readonly (readonly [id: string, fields: readonly string[]])[];
type Look = readonly (readonly [key: string, entries: Entries])[] | null;

/**
 * Rings when something comes: plain XREAD on the streams of the queues that somebody waits for, and on the control stream. It takes
 * nothing: a ring only makes a claim ask again, so one too many is a question too many, and one too few is a second's delay.
 */
export class Bell {
  readonly #options: BellOptions;
  /** Streams to look at, by key: their queue, and the entry behind which news begins. */
  readonly #watched = new Map<string, { queue: string; after: string }>();
  #controlAfter = '0-0';
  #clientId = '';
  #looks = 0;
  #looking: Set<string> | null = null;
  #mayPoke = true;
  #news: () => void = () => undefined;
  #running = false;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: BellOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = true;
    this.#options.link.start();
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#running = false;
    this.#news();
    await this.#options.link.close();
    await this.#loop;
    this.#watched.clear();
  }

  /** The control stream ends here: what comes later is news. Called when nothing is known yet, and when Redis has lost its streams. */
  controlEnds(at: string): void {
    if (this.#controlAfter === '0-0' || isBefore(at, this.#controlAfter)) this.#controlAfter = at;
  }

  /** Rings for what comes behind these ends. */
  watch(queue: string, ends: LaneEnds): void {
    let unseen = false;
    for (const [priority, after] of ends) {
      const key = this.#options.names.stream(queue, priority);
      this.#watched.set(key, { queue, after });
      unseen ||= this.#looking !== null && !this.#looking.has(key);
    }
    this.#news();
    if (unseen && this.#mayPoke) void this.#poke(this.#looks);
  }

  async #run(): Promise<void> {
    while (this.#running) {
      const session = await this.#session();
      if (session === null) return;
      try {
        this.#clientId = String(await session.call('client', 'id'));
        // What came while nobody listened.
        this.#options.ringAll();
        while (this.#running) if (this.#hear(await this.#look(session))) await this.#afterRing();
      } catch {
        // The connection is lost or stuck; the link makes the next one.
        session.drop();
        await session.ended;
      }
    }
  }

  /** Waits for a connection; as long as there is none, whoever waits asks again from time to time. */
  async #session(): Promise<Session | null> {
    let cancel = (): void => undefined;
    const again = (): void => {
      cancel = this.#options.clock.setTimer(BLOCK_MS, () => {
        this.#options.ringAll();
        again();
      });
    };
    again();
    const session = await this.#options.link.session();
    cancel();
    return session;
  }

  async #look(session: Session): Promise<Look> {
    const keys = [...this.#watched.keys()];
    const afters = [...this.#watched.values()].map(({ after }) => after);
    this.#looks++;
    this.#looking = new Set(keys);
    try {
      const block = String(this.#mayPoke ? BLOCK_MS : SHORT_BLOCK_MS);
      const streams = [this.#options.names.control, ...keys, this.#controlAfter, ...afters];
      return (await session.call('xread', 'COUNT', String(COUNT), 'BLOCK', block, 'STREAMS', ...streams)) as Look;
    } finally {
      this.#looking = null;
    }
  }

  /** A stream that rang is watched again when a claim has found it empty. */
  #hear(look: Look): boolean {
    const queues = new Set<string>();
    for (const [key, entries] of look ?? []) {
      if (key === this.#options.names.control) {
        for (const [id, fields] of entries) this.#obey(id, fields);
        continue;
      }
      const watched = this.#watched.get(key);
      if (watched !== undefined) queues.add(watched.queue);
    }
    for (const [key, { queue }] of this.#watched) if (queues.has(queue)) this.#watched.delete(key);
    for (const queue of queues) this.#options.ring(queue);
    return queues.size > 0;
  }

  #obey(id: string, [kind, of = '', , epoch = '']: readonly string[]): void {
    this.#controlAfter = id;
    if (kind === 'cancel') this.#options.cancelRequested({ id: of, epoch: Number(epoch) });
    else if (kind === 'lane') this.#options.ring(of);
    else if (kind === 'due') this.#options.ringAll();
  }

  /** Gives the woken claims the time to come back, so that the next look has their queues too. */
  #afterRing(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.setTimer(AFTER_RING_MS, resolve);
      this.#news = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Calls the blocked look back, so that the next one has the new streams. It may not have arrived yet: then again, a little later. */
  async #poke(look: number): Promise<void> {
    for (let i = 0; i < POKES.count && this.#running && this.#looking !== null && this.#looks === look; i++) {
      try {
        if ((await this.#options.commands.call('client', 'unblock', this.#clientId)) === 1) return;
      } catch (error) {
        // Forbidden, or the connection is lost; in both cases the look comes back by itself.
        this.#mayPoke = !isForbidden(error);
        return;
      }
      await new Promise<void>((resolve) => void this.#options.clock.setTimer(POKES.pauseMs, resolve));
    }
  }
}

/** Entry ids are two numbers, milliseconds and a count. */
function isBefore(one: string, other: string): boolean {
  const [ms = 0, count = 0] = one.split('-').map(Number);
  const [otherMs = 0, otherCount = 0] = other.split('-').map(Number);
  return ms < otherMs || (ms === otherMs && count < otherCount);
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && error.message.includes('NOPERM');
}
