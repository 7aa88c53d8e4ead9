// A test file that leaves a timer, thread, socket, watcher or child process behind fails, by name, whatever its tests said.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { TestEnvironment as NodeEnvironment } from 'jest-environment-node';

/** Closing is often finished by a later turn of the event loop: a file gets this long to let go. */
const GRACE_MS = 1000;
const POLL_MS = 20;

/** Ends by itself or belongs to Jest; timers are watched one by one, since Jest's own come and go between the two looks. */
const NOT_COUNTED = new Set(['CloseReq', 'FSReqCallback', 'FSReqPromise', 'Immediate', 'PipeWrap', 'TTYWrap', 'Timeout', 'WriteWrap']);

function countResources() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo()) {
    if (!NOT_COUNTED.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

export default class LeakCheckEnvironment extends NodeEnvironment {
  #before = new Map();
  #timers = new Set();
  #threads = new Set();
  #onThread = ({ worker }) => {
    this.#threads.add(worker);
    worker.once('exit', () => this.#threads.delete(worker));
  };

  async setup() {
    await super.setup();
    this.#before = countResources();
    subscribe('worker_threads', this.#onThread);
    for (const name of ['setTimeout', 'setInterval']) this.#watchTimers(name);
  }

  async teardown() {
    const deadline = performance.now() + GRACE_MS;
    let leaked = this.#leaked();
    while (leaked.length > 0 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      leaked = this.#leaked();
    }
    unsubscribe('worker_threads', this.#onThread);
    await super.teardown();
    if (leaked.length > 0) throw new Error(`Left open: ${leaked.join(', ')}. Whatever a test opens it must close.`);
  }

  #watchTimers(name) {
    const original = this.global[name];
    const watched = (...args) => {
      const timer = original(...args);
      this.#timers.add(timer);
      return timer;
    };
    // util.promisify(setTimeout) finds its own version in a property.
    this.global[name] = Object.defineProperties(watched, Object.getOwnPropertyDescriptors(original));
  }

  #leaked() {
    // `_destroyed` is Node's mark of a timer that fired or was cleared; there is no public one.
    const timers = [...this.#timers].filter((timer) => !timer._destroyed && timer.hasRef());
    const resources = [...countResources()].map(([kind, count]) => [kind, count - (this.#before.get(kind) ?? 0)]);
    return [['timer', timers.length], ['thread', this.#threads.size], ...resources]
      .filter(([, extra]) => extra > 0)
      .map(([kind, extra]) => `${extra} ${kind}`);
  }
}
