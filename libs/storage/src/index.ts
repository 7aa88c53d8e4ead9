export * from './contract/index.js';
export { createStorage } from './storage.factory.js';
export { StorageModule, type StorageModuleOptions } from './storage.module.js';
export { FSYNC_MODES, MIN_SEGMENT_BYTES, STORAGE_KINDS, type StorageKind, type StorageSettings } from './storage.settings.js';
