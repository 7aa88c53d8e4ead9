import { Worker } from 'node:worker_threads';
import type { DeliveryEndReason } from '../../handler/handler.js';
import type { RegisteredHandler } from '../../handler/handler.registry.js';
import { inWords } from '../../maintenance/log.js';
import { THREAD_ENTRY } from './entry-files.js';
import type { InsideSettings, ToInside } from './inside/protocol.js';
import { ThreadCells } from './inside/thread-cells.js';
import { Isolate, type IsolateListener } from './isolate.js';

/** A worker thread. It beats, and is told of an abort, in shared memory too: a loop that never awaits has no event loop to hear with. */
export class Thread extends Isolate {
  readonly #cells = new ThreadCells();
  readonly #worker: Worker;
  #error: string | null = null;

  constructor(handler: RegisteredHandler, settings: InsideSettings, listener: IsolateListener) {
    super(handler, settings, listener);
    this.#worker = new Worker(THREAD_ENTRY, {
      name: handler.type,
      workerData: { settings, memory: this.#cells.memory },
      resourceLimits: handler.options.resourceLimits,
    });
    this.#worker.on('message', (message: unknown) => this.heard(message));
    this.#worker.on('error', (error: unknown) => (this.#error = inWords(error)));
    this.#worker.on('exit', (code) => this.ended(this.#error ?? `the thread ended with exit code ${code}`));
  }

  protected ageMs(): number {
    return this.#cells.ageMs();
  }

  protected task(): string {
    const id = this.#cells.taskId();
    return id === 0 ? '' : `/proc/self/task/${id}`;
  }

  override abort(reason: DeliveryEndReason): void {
    this.#cells.abort(reason);
    super.abort(reason);
  }

  protected end(): void {
    void this.#worker.terminate();
  }

  protected entering(): void {
    this.#cells.reset();
  }

  protected post(message: ToInside): void {
    this.#worker.postMessage(message);
  }
}
