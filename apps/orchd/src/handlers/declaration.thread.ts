// Loads a handler module as a thread of its own and tells what it declares: code of other people, which may hang or exit while it loads.
import type { HandlerModuleExports, HandlerOptions } from '@orchd/queue';
import { parentPort, workerData } from 'node:worker_threads';

/** What a module in the folder of `--handlers` exports, each by name or within its default export. */
interface Declaring extends Partial<HandlerModuleExports> {
  readonly type?: unknown;
  readonly options?: HandlerOptions;
}

const exported = (await import(workerData as string)) as Declaring & { default?: Declaring };
const inner = typeof exported.default === 'object' ? exported.default : undefined;
parentPort!.postMessage({ type: exported.type ?? inner?.type, options: exported.options ?? inner?.options ?? {} });
process.exit();
