export { describeStorageAdapter } from './describe-storage-adapter.js';
export { ManualClock } from './manual-clock.js';
export type { StorageFixture, StorageFixtureFactory } from './storage-fixture.js';
