import type { StorageAdapter } from '../contract/index.js';

/**
 * One storage of its own for one case, and the hands that a test needs on it. What an adapter's capabilities declare decides which of the
 * optional hands it must have: the kit fails a fixture that lacks one, it does not skip.
 */
export interface StorageFixture {
  /** Not opened yet. */
  readonly adapter: StorageAdapter;
  /**
   * Lets whole milliseconds pass for the storage's clock. An adapter with `shared: false` takes a {@link Clock}, so this is a
   * `ManualClock` moved by hand and costs nothing, years included; a shared one lives by its server's clock, and this is a real wait.
   */
  advance(ms: number): Promise<void>;
  /** Moves the wall clock alone. Needed where `shared` is false. */
  jumpWall?(ms: number): Promise<void>;
  /** Closes the newest adapter cleanly and opens another one on the same data. Needed where `persistent` is true. */
  reopen?(): Promise<StorageAdapter>;
  /**
   * Loses all that the declared durability does not promise to keep (a power cut for `fsync`, kill -9 for `os`), without closing, and opens
   * another adapter on what is left. Needed where `persistent` is true.
   */
  crash?(): Promise<StorageAdapter>;
  /** Opens one more client of the same data, as another process would. Needed where `shared` is true. */
  second?(): Promise<StorageAdapter>;
  /** Closes every adapter it gave out and frees the data, whatever state they are in. */
  dispose(): Promise<void>;
}

export interface StorageFixtureFactory {
  create(): Promise<StorageFixture> | StorageFixture;
}
