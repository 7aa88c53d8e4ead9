import { jobWith } from '../job/job.js';
import { DeliveryContext, type Delivery } from './delivery.js';
import type { Handler } from '../handler/handler.js';
import type { Runner } from './runner.js';

/** Runs handlers in the main event loop: for I/O. */
export class InlineRunner implements Runner {
  run(delivery: Delivery): unknown {
    const { job, handler } = delivery;
    const view = jobWith(job, parsedPayload(job.payload));
    delivery.enter();
    return (handler.target as Handler).handle(view, new DeliveryContext(delivery));
  }

  /** A promise cannot be ended, only left alone. The pool counts it as a zombie until it settles. */
  terminate(): void {
    // Nothing to do.
  }
}

function parsedPayload(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch (cause) {
    throw new Error('the payload is not JSON', { cause });
  }
}
