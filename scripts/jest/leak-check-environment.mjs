// A test file that leaves a timer, socket, thread or child process behind fails: what keeps the process alive after its
// last test must have kept it alive before its first one.
import { NodeEnvironment } from 'jest-environment-node';

/** Closing is often finished by a callback of the event loop: a file gets this long to let go. */
const GRACE_MS = 1000;
const POLL_MS = 20;

/** Ended by themselves, and Jest's own: open files being read, its pipe to the parent, a terminal. */
const HARMLESS = new Set(['FSReqCallback', 'FSReqPromise', 'FileHandle', 'CloseReq', 'TTYWrap', 'Immediate', 'WriteWrap', 'PipeWrap', 'SignalWrap']);

function active() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo()) {
    if (!HARMLESS.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

function leaked(before) {
  return [...active()].map(([kind, count]) => [kind, count - (before.get(kind) ?? 0)]).filter(([, extra]) => extra > 0);
}

export default class LeakCheckEnvironment extends NodeEnvironment {
  #before = new Map();
  #path;

  constructor(config, context) {
    super(config, context);
    this.#path = context.testPath;
  }

  async setup() {
    await super.setup();
    this.#before = active();
  }

  async teardown() {
    const deadline = performance.now() + GRACE_MS;
    let left = leaked(this.#before);
    while (left.length > 0 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      left = leaked(this.#before);
    }
    await super.teardown();
    if (left.length > 0) {
      const list = left.map(([kind, extra]) => `${extra} x ${kind}`).join(', ');
      throw new Error(`${this.#path} leaves handles open: ${list}. Close them in the test that opened them.`);
    }
  }
}
