import type { HandlerOptions } from '@orchd/queue';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';

export interface Declaration {
  readonly type: string;
  readonly options: HandlerOptions;
}

/** As the thread tells it, unchecked: the module has a line of its own to us. */
type Declared = Partial<Record<keyof Declaration | 'handles', unknown>> | null;

const THREAD = new URL('./declaration.thread.js', import.meta.url);
const LIMIT_MS = 10_000;

/**
 * What a handler module declares. It is loaded in a thread that ends at once, so that a module which throws, exits or never ends loading is
 * found out here, and costs the service nothing. Rejects with the reason, in a line.
 */
export async function readDeclaration(module: URL): Promise<Declaration> {
  const worker = new Worker(THREAD, { workerData: module.href, stdout: true, stderr: true });
  // Read, or what the module prints fills a buffer; not shown, for its handler threads will print it again.
  worker.stdout.resume();
  worker.stderr.resume();
  let limit: NodeJS.Timeout | undefined;
  try {
    const declared = await new Promise<Declared>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', (thrown: unknown) => reject(thrown instanceof Error ? thrown : new Error(`it threw ${inspect(thrown)}`)));
      worker.once('exit', (code) => reject(new Error(`it ended the thread that loaded it, with code ${code}`)));
      limit = setTimeout(() => reject(new Error(`it was not loaded within ${LIMIT_MS} ms`)), LIMIT_MS);
    });
    return checked(declared);
  } finally {
    clearTimeout(limit);
    // Not awaited: one that stands in native code ends when it likes.
    void worker.terminate();
  }
}

function checked(declared: Declared): Declaration {
  const { type, options, handles } = declared ?? {};
  if (typeof type !== 'string') throw new Error('it exports no text `type`');
  if (handles !== true) throw new Error('it exports no function `handle`');
  if (typeof options !== 'object' || options === null) throw new Error('its `options` are no object');
  return { type, options };
}
