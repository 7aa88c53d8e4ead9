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
parentPort!.postMessage({ type: exported.type ?? inner?.type, options: exported.options ?? inner?.options ?? {}, handles });
process.exit();
