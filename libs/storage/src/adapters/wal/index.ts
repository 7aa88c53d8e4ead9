export { WalStorageAdapter, type FsyncMode, type WalStorageOptions } from './wal.adapter.js';
