// Loads a handler module as a thread of its own and tells what it declares: code of other people, which may hang or exit while it loads.
import type { HandlerModuleExports, HandlerOptions } from '@orchd/queue';
import { parentPort, workerData } from 'node:worker_threads';

/** What a module in the folder of `--handlers` exports, each by name or within its default export. */
interface Declaring extends Partial<HandlerModuleExports> {
  readonly type?: unknown;
  readonly options?: HandlerOptions;
  readonly default?: unknown;
}

const exported = (await import(workerData as string)) as Declaring;
const inner = typeof exported.default === 'object' ? (exported.default as Declaring | null) : undefined;
// Looked for where the pool will look for it.
const candidates: unknown[] = [exported, exported.default, inner?.default];
const handles = candidates.some(
  (candidate) => typeof candidate === 'function' || typeof (candidate as Declaring | null)?.handle === 'function',
);
const options: unknown = exported.options ?? inner?.options ?? {};
try {
  parentPort!.postMessage({ type: exported.type ?? inner?.type, options, handles });
} catch (error) {
  // What cannot be cloned is told as a DOMException, which does not cross itself.
  throw new Error(`its \`type\` or \`options\` hold what is no plain value: ${(error as Error).message}`, { cause: error });
}
process.exit();
