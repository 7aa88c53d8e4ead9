import type { StorageCapabilities, StorageHealth } from '../../contract/index.js';
import { JobTable } from '../../job-table/index.js';
import { JobTableAdapter, type Ticket } from '../../table-adapter/index.js';

const KEPT: Ticket = { written: () => Promise.resolve(), durable: () => Promise.resolve() };

/** Jobs in the memory of this process, for tests and for jobs that may be lost: everything is gone with `close`. */
export class MemoryStorageAdapter extends JobTableAdapter {
  readonly capabilities: StorageCapabilities = { kind: 'memory', durability: 'memory', shared: false, persistent: false };

  health(): StorageHealth {
    const open = this.lifecycle === 'open';
    return { state: this.lifecycle, writable: open, reason: open ? null : `the storage is ${this.lifecycle}`, replay: null, figures: {} };
  }

  protected override doOpen(): Promise<void> {
    this.beginWith(new JobTable({ random: this.random }));
    return Promise.resolve();
  }

  protected override assertTakes(): void {
    // memory takes everything
  }

  protected override keep(): Ticket {
    return KEPT;
  }

  protected override keepJobs(): Ticket {
    return KEPT;
  }

  protected override barrier(): null {
    return null;
  }

  protected override mayClaim(): boolean {
    return true;
  }
}
