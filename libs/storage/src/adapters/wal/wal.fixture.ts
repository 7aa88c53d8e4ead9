import { ManualClock, type StorageFixture } from '../../testing/index.js';
import { MemoryDisk } from './log/memory-disk.fixture.js';
import { MemoryFileSystem } from './log/memory-file-system.fixture.js';
import { WalStorageAdapter, type WalStorageOptions } from './wal.adapter.js';

type Settings = Pick<WalStorageOptions, 'fsync' | 'segmentBytes' | 'random'>;

/** A log on a machine in memory, whose power the test can cut, and whose clock it moves. */
export class WalFixture implements StorageFixture {
  readonly disk = new MemoryDisk();
  readonly clock = new ManualClock();
  readonly warnings: string[] = [];
  adapter: WalStorageAdapter;
  fs: MemoryFileSystem;

  constructor(private readonly settings: Settings = { segmentBytes: 64 * 1024 }) {
    this.fs = new MemoryFileSystem(this.disk);
    this.adapter = this.#boot();
  }

  async advance(ms: number): Promise<void> {
    this.clock.advance(ms);
  }

  async jumpWall(ms: number): Promise<void> {
    this.clock.jumpWall(ms);
  }

  async reopen(): Promise<WalStorageAdapter> {
    await this.adapter.close();
    return this.#start();
  }

  /** What the declared class survives: a power cut where every acknowledged batch was synced, else the end of the process. */
  async crash(): Promise<WalStorageAdapter> {
    if ((this.settings.fsync ?? 'always') === 'always') this.disk.cutPower();
    else this.disk.kill();
    return this.#start();
  }

  async dispose(): Promise<void> {
    await this.adapter.close();
  }

  #start(): Promise<WalStorageAdapter> {
    this.fs = new MemoryFileSystem(this.disk);
    this.adapter = this.#boot();
    return this.adapter.open().then(() => this.adapter);
  }

  #boot(): WalStorageAdapter {
    const warn = (message: string) => void this.warnings.push(message);
    return new WalStorageAdapter({ dir: '/data', fs: this.fs, clock: this.clock, warn, ...this.settings });
  }
}
