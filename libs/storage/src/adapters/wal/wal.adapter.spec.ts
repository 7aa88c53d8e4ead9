import { describeStorageAdapter } from '../../testing/index.js';
import { WalFixture } from './wal.fixture.js';

describeStorageAdapter('WalStorageAdapter', { create: () => new WalFixture() });
describeStorageAdapter('WalStorageAdapter with segments of 4 KiB', { create: () => new WalFixture({ segmentBytes: 4096 }) });
describeStorageAdapter('WalStorageAdapter with fsync never', { create: () => new WalFixture({ fsync: 'never', segmentBytes: 4096 }) });
