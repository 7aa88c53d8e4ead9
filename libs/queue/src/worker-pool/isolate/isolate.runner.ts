import { LIMITS, type Clock } from '@orchd/storage';
import type { DeliveryEndReason } from '../../handler/handler.js';
import type { RegisteredHandler } from '../../handler/handler.registry.js';
import { VERDICT } from '../../handler/verdict.js';
import { jobWith } from '../../job/job.js';
import type { Log } from '../../maintenance/log.js';
import type { Delivery } from '../delivery.js';
import { Notes } from '../notes.js';
import { HandlerCrashed, ResultText, TERMINATED, type Runner } from '../runner.js';
import type { FromInside, InsideNotes, InsideSettings, Outcome } from './inside/protocol.js';
import type { Isolate, IsolateListener } from './isolate.js';
import { LoadFailures } from './load-failures.js';

/** A handler that is ended gets so long to hear its signal. */
const ABORT_GRACE_MS = 50;
/** `close` of a module may take so long. */
const CLOSE_GRACE_MS = 1000;
/** Beats of a process are told at most so often; a small part of the time-out, for it makes the judgement that much later. */
const BEAT_SHARE = 50;
const MAX_BEAT_MS = 10;
/** Of a runner that is closed: then whoever was to go has gone. */
const LAST_END_MS = CLOSE_GRACE_MS + 500;
/** What is not gone so long after it was killed stands in native code, which ends when it likes. */
const STUCK_MS = 5000;
/** So many times `limit` of those are no longer counted; beyond that they would pile up without bound. */
const MOST_STUCK = 4;
/** A module that is not loaded by then never will be. */
const LOAD_LIMIT_MS = 60_000;

export interface IsolateRunnerSettings {
  /** Threads, or processes, that are not idle; and as many again that are. */
  readonly limit: number;
  /** Of handlers that set none of their own. */
  readonly heartbeatTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly create: (handler: RegisteredHandler, settings: InsideSettings, listener: IsolateListener) => Isolate;
  /** There may be room for another delivery. */
  readonly roomier: () => void;
}

/** A delivery on its way: waiting (`isolate` is null), for its isolate to load, or in its handler. */
interface Run {
  readonly delivery: Delivery;
  readonly end: (outcome: unknown) => void;
  readonly fail: (error: Error) => void;
  isolate: Isolate | null;
}

/**
 * Runs handlers in threads, or in processes. They live on from job to job. Invariant: never more than `limit` of them are at anything, be it
 * loading, working, or dying; and never more than `limit` are idle. A delivery that finds no room waits, its lease extended like any other.
 * A thread that does not end although it was killed gives up its place, for a bounded number of them.
 */
export class IsolateRunner implements Runner, IsolateListener {
  /** By how long they are idle, the longest first. */
  readonly #idle = new Set<Isolate>();
  /** All others. */
  readonly #active = new Map<Isolate, Run | null>();
  /** Killed, not gone, and not counted among the active any more. */
  readonly #stuck = new Set<Isolate>();
  readonly #runs = new Map<Delivery, Run>();
  readonly #waiting = new Set<Run>();
  readonly #failures: LoadFailures;
  #emptied: (() => void) | null = null;

  constructor(private readonly settings: IsolateRunnerSettings) {
    this.#failures = new LoadFailures(settings.clock);
  }

  /** Deliveries that would be entered without waiting for another one's end. */
  get room(): number {
    return Math.max(0, this.settings.limit - this.#active.size - this.#waiting.size);
  }

  /** For whoever counts them: none ever leaks. */
  get alive(): number {
    return this.#idle.size + this.#active.size + this.#stuck.size;
  }

  run(delivery: Delivery): unknown {
    return new Promise((end, fail) => {
      const run: Run = { delivery, end, fail, isolate: null };
      delivery.onAbort = (reason) => this.#aborted(run, reason);
      this.#runs.set(delivery, run);
      this.#waiting.add(run);
      this.#serve();
    });
  }

  terminate(delivery: Delivery): void {
    const run = this.#runs.get(delivery);
    if (!run) return;
    if (!delivery.isEntered) return void this.#leave(run).end(TERMINATED);
    // A cancelled one has had its time already.
    if (delivery.cancelRequested) return this.#kill(run.isolate!);
    run.isolate!.state = 'dying';
    this.#killSoon(run.isolate!, ABORT_GRACE_MS);
  }

  /** Resolves when all are gone, or should be by now. What still runs is killed: the pool has ended its deliveries before. */
  async close(): Promise<void> {
    for (const isolate of this.#active.keys()) if (isolate.state !== 'closing') this.#kill(isolate);
    for (const isolate of this.#idle) this.#retire(isolate);
    if (this.alive === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = this.settings.clock.setTimer(LAST_END_MS, resolve);
      this.#emptied = () => {
        cancel();
        resolve();
      };
    });
  }

  message(isolate: Isolate, message: FromInside): void {
    const run = this.#active.get(isolate);
    switch (message.kind) {
      case 'loaded':
        return this.#loaded(isolate);
      case 'broken':
        return this.#broken(isolate, message.message, message.stack);
      case 'notes':
        if (run) note(run.delivery, message);
        return;
      case 'returned':
      case 'threw':
        if (run) this.#finished(isolate, run, message);
    }
  }

  gone(isolate: Isolate, how: string): void {
    const run = this.#active.get(isolate);
    const wasIdle = this.#idle.delete(isolate);
    this.#active.delete(isolate);
    this.#stuck.delete(isolate);
    if (wasIdle) this.settings.log.warn(`an idle ${isolate.handler.runIn} of '${isolate.handler.type}' ended: ${how}`);
    if (run) {
      const { delivery } = this.#leave(run);
      if (!delivery.isEntered) run.fail(this.#failures.add(isolate.handler.type, how));
      else if (delivery.isAborted) run.end(TERMINATED);
      else run.fail(new HandlerCrashed(how));
    }
    this.#serve();
    this.settings.roomier();
    if (this.alive === 0) this.#emptied?.();
  }

  /** Gives waiting deliveries what is idle or may be started, the oldest first. */
  #serve(): void {
    for (const run of this.#waiting) {
      if (this.#active.size >= this.settings.limit) return;
      const { handler } = run.delivery;
      const idle = this.#idleOf(handler);
      const failure = idle ? null : this.#failures.current(handler.type);
      if (failure) this.#leave(run).fail(failure);
      else if (idle || this.#mayLoad(handler)) this.#assign(run, idle ?? this.#spawn(handler));
    }
  }

  /** A module that nobody has loaded yet is loaded by one first. */
  #mayLoad(handler: RegisteredHandler): boolean {
    if (this.#failures.isProven(handler.type)) return true;
    for (const isolate of this.#active.keys()) if (isolate.handler === handler && isolate.state === 'loading') return false;
    return true;
  }

  #assign(run: Run, isolate: Isolate): void {
    this.#waiting.delete(run);
    this.#active.set(isolate, run);
    run.isolate = isolate;
    if (isolate.state === 'idle') this.#enter(isolate, run);
  }

  #enter(isolate: Isolate, { delivery }: Run): void {
    const { job } = delivery;
    delivery.pulse = isolate;
    delivery.enter();
    isolate.run({ kind: 'run', job: jobWith(job, null), payload: job.payload, attempt: job.attempts + 1 });
  }

  #loaded(isolate: Isolate): void {
    if (isolate.state !== 'loading') return;
    this.#failures.loaded(isolate.handler.type);
    isolate.state = 'idle';
    const run = this.#active.get(isolate);
    if (run) this.#enter(isolate, run);
    else this.#rest(isolate);
    this.#serve();
  }

  #broken(isolate: Isolate, message: string, stack: string | null): void {
    const { type, runIn } = isolate.handler;
    const failure = this.#failures.add(type, message);
    this.settings.log.error(`the ${runIn} of '${type}' could not be started: ${stack ?? message}`);
    const run = this.#active.get(isolate);
    if (run) this.#leave(run).fail(failure);
    this.#kill(isolate);
  }

  #finished(isolate: Isolate, run: Run, outcome: Outcome): void {
    const { delivery } = this.#leave(run);
    if (outcome.notes) note(delivery, outcome.notes);
    const { recycleAfter = 0 } = isolate.handler.options;
    if (isolate.state === 'dying') this.#kill(isolate);
    else if (recycleAfter > 0 && isolate.jobs >= recycleAfter) this.#retire(isolate);
    else this.#rest(isolate);
    if (outcome.kind === 'returned') run.end(new ResultText(outcome.result));
    else run.fail(thrownInside(outcome));
  }

  /** The isolate is free, and goes on with the next delivery or waits for one. */
  #rest(isolate: Isolate): void {
    isolate.state = 'idle';
    this.#active.delete(isolate);
    this.#idle.add(isolate);
    this.#serve();
    if (this.#idle.size > this.settings.limit) this.#retire(this.#idle.values().next().value!);
    this.settings.roomier();
  }

  /** The delivery is not this runner's business any more. Its isolate, if it has one, is left as it is. */
  #leave(run: Run): Run {
    run.delivery.onAbort = null;
    this.#runs.delete(run.delivery);
    this.#waiting.delete(run);
    if (run.isolate && this.#active.has(run.isolate)) this.#active.set(run.isolate, null);
    return run;
  }

  #aborted(run: Run, reason: DeliveryEndReason): void {
    if (run.delivery.isEntered) run.isolate!.abort(reason);
    // There is no handler to ask. Every other reason is followed by `terminate`.
    else if (reason === 'cancelled') this.#leave(run).fail(new Error('cancelled before its handler was entered'));
  }

  #idleOf(handler: RegisteredHandler): Isolate | null {
    for (const isolate of this.#idle) {
      if (isolate.handler !== handler) continue;
      this.#idle.delete(isolate);
      return isolate;
    }
    return null;
  }

  #spawn(handler: RegisteredHandler): Isolate {
    const { create, clock } = this.settings;
    const { heartbeatTimeoutMs = this.settings.heartbeatTimeoutMs } = handler.options;
    const { text, errorMessage, logLines, logLine } = LIMITS;
    const limits = { text, errorMessage, logLines, logLine };
    const beatEveryMs = Math.min(MAX_BEAT_MS, heartbeatTimeoutMs / BEAT_SHARE);
    const isolate = create(handler, { module: (handler.target as URL).href, limits, heartbeatTimeoutMs, beatEveryMs }, this);
    clock.setTimer(LOAD_LIMIT_MS, () => {
      if (isolate.state === 'loading') this.#broken(isolate, `the module was not loaded within ${LOAD_LIMIT_MS} ms`, null);
    });
    return isolate;
  }

  #retire(isolate: Isolate): void {
    this.#idle.delete(isolate);
    this.#active.set(isolate, null);
    isolate.close();
    this.#killSoon(isolate, CLOSE_GRACE_MS);
  }

  #killSoon(isolate: Isolate, graceMs: number): void {
    this.settings.clock.setTimer(graceMs, () => this.#kill(isolate));
  }

  #kill(isolate: Isolate): void {
    if (isolate.state === 'gone') return;
    isolate.kill();
    this.settings.clock.setTimer(STUCK_MS, () => this.#giveUp(isolate));
  }

  #giveUp(isolate: Isolate): void {
    if (isolate.state === 'gone' || this.#stuck.size >= MOST_STUCK * this.settings.limit || !this.#active.delete(isolate)) return;
    this.#stuck.add(isolate);
    this.settings.log.warn(
      `a ${isolate.handler.runIn} of '${isolate.handler.type}' does not end although it was killed; another one takes its place`,
    );
    this.#serve();
    this.settings.roomier();
  }
}

function note(delivery: Delivery, { progress, log }: InsideNotes): void {
  const notes = (delivery.notes ??= new Notes());
  if (progress) notes.progress(progress.percent, progress.note);
  for (const line of log ?? []) notes.log(line);
}

/** An error again, as if it had been thrown here. */
function thrownInside({ message, stack, verdict }: Outcome & { kind: 'threw' }): Error {
  const error = new Error(message);
  if (stack !== null) error.stack = stack;
  return verdict === null ? error : Object.assign(error, { [VERDICT]: verdict });
}
